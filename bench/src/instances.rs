//! Instances of the papers' tables: models with a temporal property, and what is known about them.

use crate::spin::Claim;

/// An instance of a paper's table.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// As the papers call it.
    pub name: &'static str,
    /// The model, without an ending.
    pub model: &'static str,
    /// The property.
    pub ltl: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// Whether it takes minutes and gigabytes.
    pub large: bool,
    /// The papers' seconds (a 2.4 GHz Pentium 4, 2 GB, hard disk), by algorithm.
    pub published: &'static [(&'static str, u64)],
    /// How SPIN checks it, where there is a Promela twin.
    pub spin: Option<Claim>,
}

/// The instances, small ones first.
pub const INSTANCES: &[Instance] = &[
    Instance {
        name: "Lamport(3),P4",
        model: "lamport.1",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS)",
        holds: true,
        large: false,
        published: &[],
        spin: Some(Claim { ltl: "[] <> (P_0@CS || P_1@CS || P_2@CS)", depth: 20_000, slots: 17 }),
    },
    Instance {
        name: "Anderson(4),P2",
        model: "anderson.4",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS)",
        holds: true,
        large: false,
        published: &[],
        spin: None,
    },
    Instance {
        name: "Peterson(4),P4",
        model: "peterson.4",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS)",
        holds: true,
        large: false,
        published: &[],
        spin: Some(Claim { ltl: "[] <> (P_0@CS || P_1@CS || P_2@CS || P_3@CS)", depth: 170_000, slots: 22 }),
    },
    Instance {
        name: "Szymanski(4),P2",
        model: "szymanski.4",
        ltl: "G (P_0.p2 -> F P_0.CS)",
        holds: false,
        large: false,
        published: &[("dac", 1260), ("map", 12), ("iddfs", 52), ("ioemc", 3)],
        spin: Some(Claim { ltl: "[] (P_0@p2 -> <> P_0@CS)", depth: 170_000, slots: 22 }),
    },
    Instance {
        name: "Lifts(7),P4",
        model: "lifts.7",
        ltl: "(!Wheels.moving_up) U Environment.pressed_up_0",
        holds: false,
        large: false,
        published: &[("minimal", 4035)],
        spin: None,
    },
    Instance {
        name: "MCS(5),P4",
        model: "mcs.5",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS || P_4.CS)",
        holds: true,
        large: true,
        published: &[("dac", 12_960), ("map", 17_940), ("iddfs", 14_220), ("ioemc", 6_360)],
        spin: Some(Claim {
            ltl: "[] <> (P_0@CS || P_1@CS || P_2@CS || P_3@CS || P_4@CS)",
            depth: 32_000_000,
            slots: 27,
        }),
    },
];

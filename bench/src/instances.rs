//! Instances of the papers' tables: models with a temporal property, and what is known about them.

use crate::data;
use crate::spin::Claim;
use std::path::{Path, PathBuf};

/// Where a model comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A BEEM model, without its ending.
    Beem(&'static str),
    /// A model of this repository, and its parameters.
    Own(&'static str, &'static [&'static str]),
    /// The BEEM model `elevator2.3` with so many floors.
    Elevator(usize),
}

impl Source {
    /// The model's file, and the arguments that belong to it. A model that has to be made is put into the folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn file(self, shared: &Path, folder: &Path) -> Result<(PathBuf, Vec<String>), String> {
        match self {
            Self::Beem(model) => Ok((data::dve_file(shared, model), Vec::new())),
            Self::Own(model, parameters) => {
                let parameters = parameters.iter().flat_map(|parameter| ["-D".to_owned(), (*parameter).to_owned()]);
                Ok((data::root().join("models").join(model), parameters.collect()))
            }
            Self::Elevator(floors) => {
                let original = data::dve_file(shared, "elevator2.3");
                let text = std::fs::read_to_string(&original).map_err(|e| format!("{}: {e}", original.display()))?;
                let file = folder.join("elevator.dve");
                std::fs::write(&file, with_floors(&text, floors)?).map_err(|e| format!("{}: {e}", file.display()))?;
                Ok((file, Vec::new()))
            }
        }
    }
}

/// The floors of `elevator2.3`.
const FLOORS: usize = 13;

/// The model of an elevator with another number of floors.
fn with_floors(text: &str, floors: usize) -> Result<String, String> {
    let request = |floor: usize| format!("read -> read {{guard req[{floor}]==0; effect req[{floor}]=1;}}");
    let last = request(FLOORS - 1);
    if !text.contains(&last) {
        return Err("elevator2.3 is not as it was expected".to_owned());
    }
    let requests: Vec<String> = (FLOORS - 1..floors).map(request).collect();
    let bound = |sign: &str| (format!("t{sign}{FLOORS}"), format!("t{sign}{floors}"));
    let (below, at) = (bound("<"), bound("=="));
    // The array is declared before anything is asked of a floor with that number.
    Ok(text
        .replace(&format!("req[{FLOORS}]"), &format!("req[{floors}]"))
        .replace(&last, &requests.join(",\n"))
        .replace(&below.0, &below.1)
        .replace(&at.0, &at.1))
}

/// An instance of a paper's table.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// As the papers call it.
    pub name: &'static str,
    /// The model.
    pub model: Source,
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
        model: Source::Beem("lamport.1"),
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS)",
        holds: true,
        large: false,
        published: &[],
        spin: Some(Claim { ltl: "[] <> (P_0@CS || P_1@CS || P_2@CS)", depth: 20_000, slots: 17 }),
    },
    Instance {
        name: "Anderson(4),P2",
        model: Source::Beem("anderson.4"),
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS)",
        holds: true,
        large: false,
        published: &[],
        spin: None,
    },
    Instance {
        name: "Peterson(4),P4",
        model: Source::Beem("peterson.4"),
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS)",
        holds: true,
        large: false,
        published: &[],
        spin: Some(Claim { ltl: "[] <> (P_0@CS || P_1@CS || P_2@CS || P_3@CS)", depth: 170_000, slots: 22 }),
    },
    Instance {
        name: "Szymanski(4),P2",
        model: Source::Beem("szymanski.4"),
        ltl: "G (P_0.p2 -> F P_0.CS)",
        holds: false,
        large: false,
        published: &[("dac", 1260), ("map", 12), ("iddfs", 52), ("ioemc", 3)],
        spin: Some(Claim { ltl: "[] (P_0@p2 -> <> P_0@CS)", depth: 170_000, slots: 22 }),
    },
    Instance {
        name: "Lifts(7),P4",
        model: Source::Beem("lifts.7"),
        ltl: "(!Wheels.moving_up) U Environment.pressed_up_0",
        holds: false,
        large: false,
        published: &[("minimal", 4035)],
        spin: None,
    },
    Instance {
        name: "MCS(5),P4",
        model: Source::Beem("mcs.5"),
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
    Instance {
        name: "Phils(16,1),P3",
        model: Source::Own("phils.mdve", &["N=16"]),
        ltl: "G F (Phil_0.eating || Phil_1.eating || Phil_2.eating || Phil_3.eating || Phil_4.eating || Phil_5.eating \
              || Phil_6.eating || Phil_7.eating || Phil_8.eating || Phil_9.eating || Phil_10.eating || Phil_11.eating \
              || Phil_12.eating || Phil_13.eating || Phil_14.eating || Phil_15.eating)",
        holds: true,
        large: true,
        published: &[("dac", 7_260), ("map", 9_000), ("iddfs", 10_320), ("ioemc", 3_780)],
        spin: None,
    },
    Instance {
        name: "Lamport(5),P4",
        model: Source::Beem("lamport.7"),
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS || P_4.CS)",
        holds: true,
        large: true,
        published: &[("dac", 13_560), ("map", 11_760), ("iddfs", 8_700), ("ioemc", 4_260)],
        spin: None,
    },
    Instance {
        name: "Elevator2(16),P4",
        model: Source::Elevator(15),
        ltl: "G (req[1]==1 -> (!(p==1) U ((p==1) U (!(p==1) U ((p==1) U (p==1 && cabin.open))))))",
        holds: true,
        large: true,
        published: &[("dac", 40_860), ("map", 28_020), ("iddfs", 28_860), ("ioemc", 10_860)],
        spin: None,
    },
    Instance {
        name: "Szymanski(5),P4",
        model: Source::Beem("papers/szymanski-5"),
        ltl: "G F (P_0.CS + P_1.CS + P_2.CS + P_3.CS + P_4.CS == 1)",
        holds: true,
        large: true,
        published: &[],
        spin: None,
    },
    Instance {
        name: "Bakery(5,5),P3",
        model: Source::Beem("bakery.8"),
        ltl: "G F P_0.CS",
        holds: false,
        large: true,
        published: &[("dac", 246_720), ("map", 18), ("iddfs", 85), ("ioemc", 7)],
        spin: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elevator_gets_more_floors() {
        let text = "byte req[13];\nread -> read {guard req[12]==0; effect req[12]=1;}\nguard t<0 || t==13; guard t<13";
        let expected = "byte req[15];\nread -> read {guard req[12]==0; effect req[12]=1;},\n\
                        read -> read {guard req[13]==0; effect req[13]=1;},\n\
                        read -> read {guard req[14]==0; effect req[14]=1;}\nguard t<0 || t==15; guard t<15";
        assert_eq!(with_floors(text, 15).unwrap(), expected);
        assert!(with_floors("byte req[13];", 15).is_err());
    }
}

use std::fmt;
use std::time::Duration;

/// The time of all builds and of all jobs.
#[derive(Default)]
pub struct Times {
    pub builds: Duration,
    pub jobs: Duration,
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [builds, jobs] = [self.builds, self.jobs].map(|time| time.as_secs_f64().round());
        let all = builds + jobs;
        write!(f, "Took {all} s: builds {builds} s, jobs {jobs} s.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_add_up() {
        let times = Times {
            builds: Duration::from_millis(2_600),
            jobs: Duration::from_millis(1_400),
        };
        assert_eq!(times.to_string(), "Took 4 s: builds 3 s, jobs 1 s.");
    }
}

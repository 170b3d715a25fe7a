// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Parses the EAL's options as the EAL does.

/// Long options that take a value, also as the next word.
const WITH_VALUE: &[&str] = &[
    "allow",
    "base-virtaddr",
    "block",
    "file-prefix",
    "force-max-simd-bitwidth",
    "huge-dir",
    "iova-mode",
    "lcores",
    "log-level",
    "main-lcore",
    "mbuf-pool-ops-name",
    "numa-limit",
    "numa-mem",
    "proc-type",
    "socket-limit",
    "socket-mem",
    "syslog",
    "trace",
    "trace-bufsz",
    "trace-dir",
    "trace-mode",
    "vdev",
    "vfio-intr",
    "vfio-vf-token",
];

/// Long options that take no value, or only one after `=`.
const WITHOUT_VALUE: &[&str] = &[
    "create-uio-dev",
    "help",
    "huge-unlink",
    "huge-worker-stack",
    "in-memory",
    "legacy-mem",
    "match-allocations",
    "no-hpet",
    "no-huge",
    "no-pci",
    "no-shconf",
    "no-telemetry",
    "remap-lcore-ids",
    "single-file-segments",
    "telemetry",
    "version",
    "vmware-tsc-map",
];

/// Short options that take a value. The ones that matter here also have a long name.
const SHORT_WITH_VALUE: &str = "abcdlmnrsS";

/// The options of a command line.
pub(super) struct Arguments(Vec<(String, String)>);

impl Arguments {
    /// Parses a command line as `EalOptions` passes it to the EAL: the program's name, then options up to `--`.
    pub(super) fn new<S: AsRef<str>>(args: &[S]) -> Self {
        let mut options = Vec::new();
        let mut words = args.iter().map(AsRef::as_ref).skip(1).take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let Some(name) = full_name(name) else { continue };
                let wanted = value.is_none() && WITH_VALUE.contains(&name);
                let value = if wanted { words.next() } else { value };
                options.push((name.to_owned(), value.unwrap_or_default().to_owned()));
            } else if let Some(letters) = word.strip_prefix('-') {
                for (at, letter) in letters.char_indices() {
                    let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                    if SHORT_WITH_VALUE.contains(letter) {
                        let value = if rest.is_empty() { words.next().unwrap_or_default() } else { rest };
                        options.push((long_name(letter), value.to_owned()));
                        break;
                    }
                    options.push((long_name(letter), String::new()));
                }
            }
        }
        Self(options)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The effective value: that of the last occurrence.
    pub(super) fn last<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).last()
    }

    pub(super) fn file_prefix(&self) -> &str {
        self.last("file-prefix").unwrap_or("rte")
    }

    /// Whether the process has files by which others can find it.
    pub(super) fn shares_files(&self) -> bool {
        !self.has("no-shconf") && !self.has("in-memory")
    }

    pub(super) fn uses_hugepages(&self) -> bool {
        !self.has("no-huge")
    }

    /// The total requested memory in MB.
    pub(super) fn memory_mb(&self) -> Option<u64> {
        self.last("m")?.parse().ok()
    }

    /// The requested memory on each socket in MB.
    pub(super) fn socket_memory_mb(&self) -> Vec<u64> {
        let list = self.last("socket-mem").or_else(|| self.last("numa-mem")).unwrap_or_default();
        list.split(',').map_while(|number| number.parse().ok()).collect()
    }
}

/// The full name of a long option, which may be abbreviated.
fn full_name(given: &str) -> Option<&'static str> {
    let known = || WITH_VALUE.iter().chain(WITHOUT_VALUE).copied();
    known().find(|name| *name == given).or_else(|| {
        let mut fitting = known().filter(|name| name.starts_with(given));
        fitting.next().filter(|_| fitting.next().is_none())
    })
}

fn long_name(letter: char) -> String {
    match letter {
        'a' => "allow".to_owned(),
        'b' => "block".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn values_stand_behind_an_equals_sign_or_in_the_next_word() {
        let found =
            arguments("x --vdev=net_null0,size=64 --vdev net_ring0 -l 0-1 -n4 --file-prefix a -a 01:00.0 --no-pci");
        assert_eq!(found.all("vdev").collect::<Vec<_>>(), ["net_null0,size=64", "net_ring0"]);
        assert_eq!((found.last("l"), found.last("n"), found.last("allow")), (Some("0-1"), Some("4"), Some("01:00.0")));
        assert_eq!((found.file_prefix(), found.has("no-pci")), ("a", true));
    }

    #[test]
    fn what_follows_the_dashes_is_not_the_eals() {
        let found = arguments("x --no-huge -- --vdev=net_null0 -l 3");
        assert_eq!((found.all("vdev").count(), found.last("l")), (0, None));
        assert!(!found.uses_hugepages());
    }

    #[test]
    fn long_names_may_be_cut_short_where_that_is_clear() {
        let found = arguments("x --file-p=a --no-h --vdev=net_null0 --unknown=1");
        assert_eq!(found.file_prefix(), "a");
        assert!(found.uses_hugepages(), "--no-h may be --no-huge or --no-hpet");
    }

    #[test]
    fn a_value_is_no_option() {
        let found = arguments("x --file-prefix --no-pci -vl 1");
        assert_eq!((found.file_prefix(), found.has("no-pci")), ("--no-pci", false));
        assert_eq!((found.has("v"), found.last("l")), (true, Some("1")));
    }

    #[test]
    fn memory_is_in_megabytes() {
        assert_eq!(arguments("x -m 512").memory_mb(), Some(512));
        assert_eq!(arguments("x --socket-mem=512,0,64").socket_memory_mb(), [512, 0, 64]);
        assert_eq!(arguments("x --numa-mem 64").socket_memory_mb(), [64]);
        assert_eq!(arguments("x").socket_memory_mb(), [0; 0]);
    }

    #[test]
    fn the_last_of_several_counts() {
        assert_eq!(arguments("x --file-prefix=a --file-prefix=b").file_prefix(), "b");
        assert_eq!(arguments("x").file_prefix(), "rte");
    }
}

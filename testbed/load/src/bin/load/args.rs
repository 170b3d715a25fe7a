// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

use crate::{error::UsageError, service::Service};
use core::{net::IpAddr, net::SocketAddr, str::FromStr};
use dpdk_sockets::IpNet;
use lexopt::{Arg, Parser, ValueExt as _};
use std::ffi::OsString;

pub(crate) const USAGE: &str = "\
usage: load kernel SERVICE ADDRESS PORT [OPTIONS]
       load [EAL OPTIONS] -- dpdk OWN/PREFIX SERVICE ADDRESS PORT [OPTIONS]

Sends requests to a service at planned times, over the kernel's sockets or over dpdk-sockets, checks every answer, and
reports latencies, which count from the planned times.

  OWN/PREFIX         the address of the first port and its network, such as 192.0.2.1/24
  SERVICE            adder, echo or origin
  ADDRESS, PORT      of the service, such as 127.0.0.1 8080
  --connections N    1 to 1000000; default: 100
  --rate R[,R...]    requests a second, one step after the other; or max: each connection sends a request as soon as
                     the one before is answered, a closed loop; default: max
  --ramp FROM,TO     one step whose rate changes evenly, instead of --rate
  --poisson          draws the planned times of a Poisson process; default: equal distances
  --per-connection N closes connections after N requests, and opens them anew; default: never
  --size N           bytes of a message for echo, 1 to 16777216; default: 4096
  --seconds S        the length of each step, 0.001 to 86400; default: 10
  --warm-up S        seconds before the first step that are not reported, 0 to 86400; default: 1
  --seed N           for what is drawn; default: 0
  -h, --help         print this text

It prints JSON on stdout: an object when all connections are open, one for each step, and the result. SIGINT and
SIGTERM end it with the results so far. The exit status is 3 if a step is invalid, 2 if the command line is wrong, and
1 if the program cannot continue.
";

/// The load of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rate {
    /// A closed loop.
    Max,
    /// Requests a second, at the start and at the end.
    Planned { from: f64, to: f64 },
}

/// The command line, checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// The program's own address on dpdk-sockets; `None` for the kernel's sockets.
    pub(crate) own: Option<IpNet>,
    pub(crate) service: Service,
    pub(crate) to: SocketAddr,
    pub(crate) connections: usize,
    /// Of each step.
    pub(crate) rates: Vec<Rate>,
    pub(crate) poisson: bool,
    pub(crate) per_connection: Option<u64>,
    pub(crate) seconds: f64,
    pub(crate) warm_up: f64,
    pub(crate) seed: u64,
}

/// Reads the program's own words. `None`: the usage is asked for.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, UsageError> {
    let mut parser = Parser::from_args(words);
    let (mut places, mut rate, mut ramp, mut size) = (Vec::new(), None, None, None);
    let (mut connections, mut poisson, mut per_connection, mut seed) = (100, false, None, 0);
    let (mut seconds, mut warm_up) = (10.0, 1.0);
    while let Some(arg) = parser.next()? {
        let option = match &arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Long("poisson") => {
                poisson = true;
                continue;
            }
            Arg::Value(value) => {
                places.push(value.to_string_lossy().into_owned());
                continue;
            }
            Arg::Long(option) => OPTIONS.into_iter().find(|known| known[2..] == **option),
            Arg::Short(_) => None,
        };
        let Some(option) = option else { return Err(arg.unexpected().into()) };
        let value = parser.value()?.string()?;
        match option {
            "--connections" => connections = number(option, &value, 1..=1_000_000, "1 to 1000000")?,
            "--rate" => rate = Some(rates(&value)?),
            "--ramp" => ramp = Some(vec![linear(&value)?]),
            "--per-connection" => per_connection = Some(number(option, &value, 1..=u64::MAX, "a number from 1 on")?),
            "--size" => size = Some(number(option, &value, 1..=1 << 24, "1 to 16777216")?),
            "--seconds" => seconds = number(option, &value, 0.001..=86_400.0, "0.001 to 86400")?,
            "--warm-up" => warm_up = number(option, &value, 0.0..=86_400.0, "0 to 86400")?,
            _ => seed = number(option, &value, 0..=u64::MAX, "0 to 18446744073709551615")?,
        }
    }
    let (own, service, to) = place(&places, size)?;
    let rates = match (rate, ramp) {
        (Some(_), Some(_)) => return Err(UsageError::Exclusive("--rate", "--ramp")),
        (Some(rates), None) | (None, Some(rates)) => rates,
        (None, None) => vec![Rate::Max],
    };
    if poisson && rates.contains(&Rate::Max) {
        return Err(UsageError::PoissonWithoutRate);
    }
    Ok(Some(Options { own, service, to, connections, rates, poisson, per_connection, seconds, warm_up, seed }))
}

/// Those with a value.
const OPTIONS: [&str; 8] =
    ["--connections", "--rate", "--ramp", "--per-connection", "--size", "--seconds", "--warm-up", "--seed"];

fn place(places: &[String], size: Option<usize>) -> Result<(Option<IpNet>, Service, SocketAddr), UsageError> {
    let words: Vec<&str> = places.iter().map(String::as_str).collect();
    let (own, rest) = match words.as_slice() {
        ["kernel", rest @ ..] => (None, rest),
        ["dpdk", own, rest @ ..] => {
            (Some(value("OWN/PREFIX", own, "an address with a prefix, such as 192.0.2.1/24")?), rest)
        }
        [] | ["dpdk"] => return Err(UsageError::Place),
        [other, ..] => return Err(UsageError::Sockets((*other).to_owned())),
    };
    let &[service, address, port] = rest else { return Err(UsageError::Place) };
    let service = match (service, size) {
        ("echo", size) => Service::Echo { size: size.unwrap_or(4_096) },
        ("adder" | "origin", Some(_)) => return Err(UsageError::SizeWithoutEcho),
        ("adder", None) => Service::Adder,
        ("origin", None) => Service::Origin,
        _ => return Err(invalid("SERVICE", service, "adder, echo or origin")),
    };
    let address: IpAddr = value("ADDRESS", address, "an address, such as 127.0.0.1 or ::1")?;
    let port = number("PORT", port, 1..=u16::MAX, "1 to 65535")?;
    Ok((own, service, SocketAddr::new(address, port)))
}

fn rates(text: &str) -> Result<Vec<Rate>, UsageError> {
    let rate = |text| match text {
        "max" => Some(Rate::Max),
        text => requests_per_second(text).filter(|rate| *rate > 0.0).map(|rate| Rate::Planned { from: rate, to: rate }),
    };
    let rates: Option<Vec<Rate>> = text.split(',').map(rate).collect();
    rates.ok_or_else(|| invalid("--rate", text, "max, or requests a second up to 100000000, such as 1000,2000"))
}

fn linear(text: &str) -> Result<Rate, UsageError> {
    let ends = text.split_once(',').and_then(|(from, to)| requests_per_second(from).zip(requests_per_second(to)));
    match ends {
        Some((from, to)) if from + to > 0.0 => Ok(Rate::Planned { from, to }),
        _ => Err(invalid("--ramp", text, "two numbers of requests a second up to 100000000, such as 1000,2000")),
    }
}

fn requests_per_second(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate| (0.0..=1e8).contains(rate))
}

fn number<T: FromStr + PartialOrd>(
    option: &'static str,
    text: &str,
    range: core::ops::RangeInclusive<T>,
    expected: &'static str,
) -> Result<T, UsageError> {
    value(option, text, expected)
        .and_then(|number| if range.contains(&number) { Ok(number) } else { Err(invalid(option, text, expected)) })
}

fn value<T: FromStr>(option: &'static str, text: &str, expected: &'static str) -> Result<T, UsageError> {
    text.parse().map_err(|_| invalid(option, text, expected))
}

fn invalid(option: &'static str, value: &str, expected: &'static str) -> UsageError {
    UsageError::Value { option, value: value.to_owned(), expected }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Options, Rate, parse};
    use crate::service::Service;

    fn options(line: &str) -> Result<Option<Options>, String> {
        parse(line.split_whitespace().map(Into::into)).map_err(|error| error.to_string())
    }

    fn defaults() -> Options {
        Options {
            own: None,
            service: Service::Adder,
            to: "127.0.0.1:80".parse().unwrap(),
            connections: 100,
            rates: vec![Rate::Max],
            poisson: false,
            per_connection: None,
            seconds: 10.0,
            warm_up: 1.0,
            seed: 0,
        }
    }

    #[test]
    fn both_kinds_of_sockets_and_all_services_are_understood() {
        assert_eq!(options("kernel adder 127.0.0.1 80"), Ok(Some(defaults())));
        let own = "192.0.2.1/24".parse().ok();
        let to = "[2001:db8::2]:8080".parse().unwrap();
        let echo = Options { own, service: Service::Echo { size: 4_096 }, to, ..defaults() };
        assert_eq!(options("dpdk 192.0.2.1/24 echo 2001:db8::2 8080"), Ok(Some(echo)));
        let origin = Options { service: Service::Origin, ..defaults() };
        assert_eq!(options("kernel origin 127.0.0.1 80"), Ok(Some(origin)));
        assert_eq!(options("nonsense --rate 5 -h"), Ok(None));
    }

    #[test]
    fn every_option_is_understood() {
        let line = "--rate 1000,2000.5 kernel echo 127.0.0.1 80 --connections 7 --poisson --per-connection=50 --size 9 \
                    --seconds 0.5 --warm-up 0 --seed 3";
        let planned = |rate| Rate::Planned { from: rate, to: rate };
        let expected = Options {
            service: Service::Echo { size: 9 },
            connections: 7,
            rates: vec![planned(1_000.0), planned(2_000.5)],
            poisson: true,
            per_connection: Some(50),
            seconds: 0.5,
            warm_up: 0.0,
            seed: 3,
            ..defaults()
        };
        assert_eq!(options(line), Ok(Some(expected)));
        let ramp = Options { rates: vec![Rate::Planned { from: 0.0, to: 500.0 }], ..defaults() };
        assert_eq!(options("kernel adder 127.0.0.1 80 --ramp 0,500"), Ok(Some(ramp)));
        let both = Options { rates: vec![planned(100.0), Rate::Max], ..defaults() };
        assert_eq!(options("kernel adder 127.0.0.1 80 --rate 100,max"), Ok(Some(both)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, told) in [
            ("", "give kernel, a service"),
            ("dpdk", "give kernel, a service"),
            ("kernel adder 127.0.0.1", "give kernel, a service"),
            ("kernel adder 127.0.0.1 80 81", "give kernel, a service"),
            ("lwip adder 127.0.0.1 80", "'lwip' is no kind of sockets: give kernel or dpdk"),
            ("dpdk 192.0.2.1 adder 192.0.2.2 80", "'192.0.2.1' for OWN/PREFIX: give an address with a prefix"),
            ("kernel proxy 127.0.0.1 80", "'proxy' for SERVICE: give adder, echo or origin"),
            ("kernel adder localhost 80", "'localhost' for ADDRESS"),
            ("kernel adder 127.0.0.1 0", "'0' for PORT: give 1 to 65535"),
            ("kernel adder 127.0.0.1 80 --rate 0", "'0' for --rate"),
            ("kernel adder 127.0.0.1 80 --rate 5,,6", "'5,,6' for --rate"),
            ("kernel adder 127.0.0.1 80 --rate nan", "'nan' for --rate"),
            ("kernel adder 127.0.0.1 80 --ramp 0,0", "'0,0' for --ramp"),
            ("kernel adder 127.0.0.1 80 --ramp 5", "'5' for --ramp"),
            ("kernel adder 127.0.0.1 80 --ramp 1,2 --rate 5", "--rate excludes --ramp"),
            ("kernel adder 127.0.0.1 80 --poisson", "--poisson needs planned times"),
            ("kernel adder 127.0.0.1 80 --size 5", "--size is for echo"),
            ("kernel echo 127.0.0.1 80 --size 0", "'0' for --size: give 1 to 16777216"),
            ("kernel adder 127.0.0.1 80 --seconds 0", "'0' for --seconds: give 0.001 to 86400"),
            ("kernel adder 127.0.0.1 80 --seconds inf", "'inf' for --seconds"),
            ("kernel adder 127.0.0.1 80 --seed -1", "'-1' for --seed"),
            ("kernel adder 127.0.0.1 80 --connections 0", "'0' for --connections"),
            ("kernel adder 127.0.0.1 80 --speed", "'--speed'"),
            ("kernel adder 127.0.0.1 80 --seed", "--seed"),
            ("kernel adder 127.0.0.1 80 -x", "'-x'"),
        ] {
            let error = options(line).unwrap_err();
            assert!(error.contains(told), "{line}: {error}");
        }
    }
}

// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rules for received frames, on a tap, whose driver checks them and passes them to the kernel's `flower`.

use crate::{
    frames::{only_port, pool, until},
    namespace::{namespace, shell},
    numbers::Numbers,
    process::{isolated, isolated_in},
};
use dpdk_rs::{
    Burst, Eal, MacAddr, Mempool, Port, PortConfig, RxQueue, TxQueue,
    flow::{Action, Eth, FlowError, FlowErrorCause, Ipv4, Ipv6, Rule, Tcp, Udp, Vlan},
    port::RssFields,
};
use std::{net::UdpSocket, path::Path};

const ENOSYS: i32 = 38;

/// Rules of every header, and of the actions that a tap has.
fn usual() -> Vec<Rule> {
    let to_dns =
        Rule::new().item(Eth::any()).item(Ipv4::any().dst([192, 0, 2, 1].into())).item(Udp::any().dst_port(53));
    vec![
        to_dns.clone().action(Action::Queue(1)),
        to_dns.action(Action::Drop),
        Rule::new().item(Eth::any().dst(MacAddr([2, 0, 0, 0, 0, 1])).ether_type(0x88b5)).action(Action::Drop),
        Rule::new().item(Eth::any()).item(Vlan::any().id(100)).item(Ipv4::any().protocol(6)).action(Action::Queue(0)),
        Rule::new()
            .item(Eth::any())
            .item(Ipv6::any().src_net([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0].into(), 32).next_header(6))
            .item(Tcp::any().src_port(80).dst_port(1024))
            .action(Action::Drop),
        Rule::new().item(Eth::any()).item(Ipv4::any().src_net([10, 0, 0, 0].into(), 8)).action(Action::Queue(1)),
    ]
}

#[test]
fn a_device_without_rules_says_so() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = only_port(&eal).configure(&PortConfig::default(), &pool).unwrap().start().unwrap();
        let rule = Rule::new().item(Eth::any()).action(Action::Drop);
        for error in [port.validate_flow(&rule).unwrap_err(), port.create_flow(&rule).unwrap_err()] {
            assert_eq!(error.errno().map(|errno| errno.get()), Some(ENOSYS), "{error}");
            assert!(error.to_string().starts_with("port 0 (net_null0): cannot "), "{error}");
            assert!(matches!(error, FlowError::Refused { cause: FlowErrorCause::Unspecified, .. }), "{error:?}");
        }
        for (rule, words) in [
            (Rule::new().item(Eth::any()), "port 0 (net_null0): a rule needs an action"),
            (Rule::new().action(Action::Queue(1)), "port 0 (net_null0): RX queue number: 1 requested"),
            (
                Rule::new().action(Action::Rss { fields: RssFields::IP, queues: vec![] }),
                "queues for an RSS action: 0 requested, the device supports 1 or more",
            ),
            (Rule::new().action(Action::Rss { fields: RssFields::IP, queues: vec![0, 9] }), "RX queue number: 9"),
            (
                Rule::new().action(Action::Rss { fields: RssFields::IP, queues: vec![0; 100] }),
                "repeated queue of an RSS action: 0 requested, the device supports each RX queue once",
            ),
            (Rule::new().item(Vlan::any().id(4096)).action(Action::Drop), "VLAN number: 4096 requested"),
            (
                Rule::new().item(Ipv4::any().dst_net([0; 4].into(), 33)).action(Action::Drop),
                "prefix length: 33 requested, the device supports 0 to 32",
            ),
        ] {
            let error = port.create_flow(&rule).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        drop(port.stop(rx, tx).unwrap());
    });
}

/// Runs `body` on a started tap with two queues each way. Its kernel's side is `sorted0`.
fn on_tap<F: FnOnce(Eal, Port, Vec<RxQueue>, Vec<TxQueue>)>(eal: Eal, body: F) {
    let pool: Mempool = pool(&eal, "pool");
    let config = PortConfig::default().rx_queues(2).tx_queues(2).rx_descriptors(64);
    let (port, rx, tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
    body(eal, port, rx, tx);
}

const TAP: [&str; 1] = ["net_tap0,iface=sorted0"];

/// A network namespace, if there can be a tap in it.
fn with_tap(setup: &'static str) -> Option<Vec<&'static str>> {
    if Path::new("/dev/net/tun").exists() {
        return namespace(setup);
    }
    println!("skipped: the kernel has no /dev/net/tun");
    None
}

#[test]
fn the_driver_looks_at_headers_and_actions() {
    let Some(namespace) = with_tap("") else { return };
    isolated_in(&namespace, &TAP, |eal| {
        on_tap(eal, |_eal, port, _rx, _tx| {
            for rule in usual() {
                port.validate_flow(&rule).unwrap_or_else(|error| panic!("{rule:?}: {error}"));
            }
            let drop_all = Rule::new().item(Eth::any()).action(Action::Drop);
            for (rule, cause) in [
                (drop_all.clone().action(Action::Queue(0)), FlowErrorCause::Action),
                (drop_all.clone().group(16), FlowErrorCause::Group),
                (drop_all.clone().priority(1 << 20), FlowErrorCause::Priority),
                (Rule::new().item(Eth::any()).action(Action::Jump(1)), FlowErrorCause::Action),
                (Rule::new().item(Udp::any()).item(Eth::any()).action(Action::Drop), FlowErrorCause::Item),
            ] {
                match port.validate_flow(&rule).unwrap_err() {
                    FlowError::Refused { cause: found, call: "rte_flow_validate", message, .. } => {
                        assert_eq!(found, cause, "{rule:?}: {message}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
    });
}

/// What the driver's rules need in the kernel: `flower`, and the queues.
const FLOWER: &str = "ip tuntap add dev probe0 mode tap multi_queue; ip link set probe0 up; tc qdisc add dev probe0 ingress; \
    tc filter add dev probe0 parent ffff: protocol ip flower dst_ip 192.0.2.1 action drop; \
    tc qdisc add dev probe0 root handle 1: multiq";

#[test]
fn rules_are_created_sort_frames_and_end_with_the_port() {
    let Some(namespace) = with_tap(FLOWER) else { return };
    isolated_in(&namespace, &TAP, |eal| {
        on_tap(eal, |_eal, port, mut rx, tx| {
            shell("ip address add 192.0.2.2/24 dev sorted0; ip link set sorted0 up");
            let mac = port.mac_addr().unwrap();
            shell(&format!("ip neighbour add 192.0.2.1 lladdr {mac} dev sorted0"));
            let socket = UdpSocket::bind("192.0.2.2:5000").unwrap();
            let udp_to = |to| {
                Rule::new().item(Eth::any()).item(Ipv4::any().dst([192, 0, 2, 1].into())).item(Udp::any().dst_port(to))
            };
            let queues =
                [0, 1].map(|queue| port.create_flow(&udp_to(6000 + queue).action(Action::Queue(queue))).unwrap());
            assert_eq!([0, 1].map(|queue| arrives(&mut rx, &socket, 6000 + queue)), [0, 1]);

            let dropping = port.create_flow(&udp_to(7000).action(Action::Drop)).unwrap();
            for _ in 0..20 {
                socket.send_to(b"to be dropped", ("192.0.2.1", 7000)).unwrap();
            }
            // Frames sent later have arrived, and these have not.
            let mut seen = false;
            arrives_after(&mut rx, &socket, 6001, |bytes| seen |= bytes.ends_with(b"to be dropped"));
            assert!(!seen);
            dropping.destroy().unwrap();
            arrives(&mut rx, &socket, 7000);

            // The same rule twice is an error of the kernel's, with the driver's words.
            let error = port.create_flow(&udp_to(6001).action(Action::Queue(1))).unwrap_err();
            assert!(matches!(error, FlowError::Refused { call: "rte_flow_create", .. }), "{error:?}");
            let [left, held] = queues;
            left.leave();
            let (port, ..) = port.stop(rx, tx).unwrap().start().unwrap();
            assert!(matches!(held.destroy(), Err(FlowError::Ended { .. })));
            // Both are destroyed: they can be created again.
            for queue in [0, 1] {
                port.create_flow(&udp_to(6000 + queue).action(Action::Queue(queue))).unwrap().leave();
            }
        });
    });
}

/// Without `flower` in the kernel, the error has its number and the driver's message. The port is unaffected.
#[test]
fn a_rule_is_created_or_refused_with_words() {
    let Some(namespace) = with_tap("") else { return };
    isolated_in(&namespace, &TAP, |eal| {
        on_tap(eal, |_eal, port, rx, tx| {
            let rule = Rule::new().item(Eth::any()).item(Ipv4::any().protocol(17)).action(Action::Drop);
            match port.create_flow(&rule) {
                Ok(flow) => {
                    assert!(matches!(flow.count(), Err(FlowError::Refused { call: "rte_flow_query", .. })));
                    flow.destroy().unwrap();
                }
                Err(error) => {
                    let FlowError::Refused { errno, ref message, .. } = error else { panic!("{error:?}") };
                    assert!(errno.get() > 0 && !message.is_empty(), "{error}");
                }
            }
            drop(port.stop(rx, tx).unwrap().start().unwrap());
        });
    });
}

/// Whatever headers and actions a rule has, the driver accepts or rejects it, the same each time, and an accepted rule
/// can be destroyed.
#[test]
fn rules_drawn_at_random_are_taken_or_refused_with_words() {
    let Some(namespace) = with_tap("") else { return };
    isolated_in(&namespace, &TAP, |eal| {
        on_tap(eal, |_eal, port, rx, tx| {
            let mut numbers = Numbers(11);
            let mut valid = 0;
            let mut held = Vec::new();
            for _ in 0..400 {
                let rule = drawn(&mut numbers);
                let validated = port.validate_flow(&rule);
                assert_eq!(port.validate_flow(&rule), validated, "{rule:?}");
                valid += usize::from(validated.is_ok());
                match port.create_flow(&rule) {
                    Ok(flow) => {
                        assert!(validated.is_ok(), "{rule:?} was created, and refused before: {validated:?}");
                        held.push(flow);
                    }
                    Err(FlowError::Refused { errno, message, .. }) => {
                        assert!(errno.get() > 0 && !message.is_empty(), "{rule:?}: {message} {errno}");
                    }
                    Err(error) => assert_eq!(Err(error), validated, "{rule:?}"),
                }
                if held.len() > 8 {
                    held.swap_remove(numbers.below(8)).destroy().unwrap();
                }
            }
            assert!((20..380).contains(&valid), "{valid} of 400 are valid");
            // Some end with the port, and some before it.
            held.truncate(held.len() / 2);
            drop(port.stop(rx, tx).unwrap().start().unwrap());
        });
    });
}

/// A rule of up to three headers, most of them in a plausible order, and one or two actions.
fn drawn(numbers: &mut Numbers) -> Rule {
    let headers = numbers.below(4);
    let mut rule = Rule::new().group(numbers.below(20) as u32 / 17).priority(numbers.below(40) as u32);
    let mut least = 0;
    for _ in 0..headers {
        // From the outermost inwards, or in any order.
        let kind = if numbers.below(8) == 0 { numbers.below(6) } else { least + numbers.below(6 - least) };
        least = (kind + 1).min(5);
        let (bytes, port) = (numbers.next().to_le_bytes(), numbers.next() as u16);
        let [one, two, three, four, five, six, ..] = bytes;
        rule = match kind {
            0 if port % 3 == 0 => rule.item(Eth::any()),
            0 => rule.item(Eth::any().dst(MacAddr([one & 0xfe, two, three, four, five, six]))),
            1 => rule.item(Vlan::any().id(port & 0xfff)),
            2 => rule.item(Ipv4::any().dst_net([one, two, three, four].into(), five % 33)),
            3 => rule.item(Ipv6::any().src_net([port, port, 0, 0, 0, 0, 0, 1].into(), five % 129).next_header(six)),
            4 => rule.item(Udp::any().dst_port(port)),
            _ => rule.item(Tcp::any().src_port(port)),
        };
    }
    for _ in 0..1 + numbers.below(8) / 7 {
        rule = rule.action(match numbers.below(8) {
            0 | 1 => Action::Drop,
            2 | 3 => Action::Queue(numbers.below(3) as u16),
            4 => Action::Mark(7),
            5 => Action::Count,
            6 => Action::Jump(numbers.below(3) as u32),
            _ => Action::Rss { fields: RssFields::IP, queues: vec![1, 0] },
        });
    }
    rule
}

/// Repeatedly sends UDP from the kernel's side until a queue has received it. Returns the number of the queue.
fn arrives(rx: &mut [RxQueue], socket: &UdpSocket, to: u16) -> usize {
    arrives_after(rx, socket, to, |_| {})
}

/// Like [`arrives`], but checks every frame until then.
fn arrives_after(rx: &mut [RxQueue], socket: &UdpSocket, to: u16, mut look: impl FnMut(&[u8])) -> usize {
    let text = format!("to port {to}");
    let mut place = None;
    until("the datagram arrives", || {
        socket.send_to(text.as_bytes(), ("192.0.2.1", to)).unwrap();
        for (number, queue) in rx.iter_mut().enumerate() {
            let mut burst = Burst::<_, 32>::new();
            queue.rx(&mut burst);
            burst.iter().for_each(|packet| look(packet.data()));
            if burst.iter().any(|packet| packet.data().ends_with(text.as_bytes())) {
                place = Some(number);
            }
        }
        place.is_some()
    });
    place.unwrap()
}

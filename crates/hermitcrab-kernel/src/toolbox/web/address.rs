//! The addresses that are not on the public web.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), bits)
}

const fn v6(a: u16, b: u16, c: u16, bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

const SPECIAL_V4: [(Ipv4Net, &str); 16] = [
    (v4(0, 0, 0, 8), "unspecified"),
    (v4(10, 0, 0, 8), "private"),
    (v4(100, 64, 0, 10), "carrier-grade private"),
    (v4(127, 0, 0, 8), "loopback"),
    (v4(169, 254, 0, 16), "link-local"),
    (v4(172, 16, 0, 12), "private"),
    (v4(192, 0, 0, 24), "protocol assignment"),
    (v4(192, 0, 2, 24), "documentation"),
    (v4(192, 88, 99, 24), "6to4 relay"),
    (v4(192, 168, 0, 16), "private"),
    (v4(198, 18, 0, 15), "benchmark"),
    (v4(198, 51, 100, 24), "documentation"),
    (v4(203, 0, 113, 24), "documentation"),
    (v4(224, 0, 0, 4), "multicast"),
    // With the broadcast address.
    (v4(240, 0, 0, 4), "reserved"),
    // Answered by hosters' own metadata services, though it is a public address.
    (v4(168, 63, 129, 24), "cloud metadata"),
];

const SPECIAL_V6: [(Ipv6Net, &str); 8] = [
    (v6(0xfc00, 0, 0, 7), "unique-local"),
    (v6(0xfe80, 0, 0, 10), "link-local"),
    (v6(0xfec0, 0, 0, 10), "site-local"),
    (v6(0xff00, 0, 0, 8), "multicast"),
    (v6(0x64, 0xff9b, 1, 48), "local NAT64"),
    (v6(0x2001, 0xdb8, 0, 32), "documentation"),
    (v6(0x2001, 0, 0, 23), "protocol assignment"),
    (v6(0x3fff, 0, 0, 20), "documentation"),
];

const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 0, 3);
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 96);
const SIX_TO_FOUR: Ipv6Net = v6(0x2002, 0, 0, 16);
const TEREDO: Ipv6Net = v6(0x2001, 0, 0, 32);

/// The special use of an address, or of one inside it; `None` for the public web.
pub(super) fn special(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => special_v4(ip),
        IpAddr::V6(ip) => special_v6(ip),
    }
}

fn special_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let mut nets = SPECIAL_V4.iter();
    nets.find(|(net, _)| net.contains(&ip)).map(|(_, why)| *why)
}

fn special_v6(ip: Ipv6Addr) -> Option<&'static str> {
    if ip.is_unspecified() {
        return Some("unspecified");
    }
    if ip.is_loopback() {
        return Some("loopback");
    }
    if let Some(inner) = ip.to_ipv4_mapped() {
        return special_v4(inner);
    }
    let bits = ip.to_bits();
    let low = Ipv4Addr::from_bits(bits as u32);
    if NAT64.contains(&ip) {
        return special_v4(low);
    }
    if SIX_TO_FOUR.contains(&ip) {
        return special_v4(Ipv4Addr::from_bits((bits >> 80) as u32));
    }
    if TEREDO.contains(&ip) {
        let server = Ipv4Addr::from_bits((bits >> 64) as u32);
        let client = Ipv4Addr::from_bits(!low.to_bits());
        return special_v4(server).or_else(|| special_v4(client));
    }
    let mut nets = SPECIAL_V6.iter();
    if let Some((_, why)) = nets.find(|(net, _)| net.contains(&ip)) {
        return Some(why);
    }
    // The rest of the space, the old v4-compatible addresses with it, is not routed.
    (!GLOBAL_V6.contains(&ip)).then_some("reserved")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(address: &str) -> Option<&'static str> {
        special(address.parse().unwrap())
    }

    #[test]
    fn special_ranges_are_told_at_both_ends() {
        for (first, last, why) in [
            ("0.0.0.0", "0.255.255.255", "unspecified"),
            ("10.0.0.0", "10.255.255.255", "private"),
            ("100.64.0.0", "100.127.255.255", "carrier-grade private"),
            ("127.0.0.0", "127.255.255.255", "loopback"),
            ("169.254.0.0", "169.254.255.255", "link-local"),
            ("172.16.0.0", "172.31.255.255", "private"),
            ("192.0.0.0", "192.0.0.255", "protocol assignment"),
            ("192.168.0.0", "192.168.255.255", "private"),
            ("198.18.0.0", "198.19.255.255", "benchmark"),
            ("224.0.0.0", "239.255.255.255", "multicast"),
            ("240.0.0.0", "255.255.255.255", "reserved"),
            (
                "fc00::",
                "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "unique-local",
            ),
            (
                "fe80::",
                "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "link-local",
            ),
            (
                "ff00::",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "multicast",
            ),
            (
                "2001:db8::",
                "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                "documentation",
            ),
        ] {
            assert_eq!(of(first), Some(why), "{first}");
            assert_eq!(of(last), Some(why), "{last}");
        }
    }

    #[test]
    fn the_public_web_is_open_up_to_its_borders() {
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
        ] {
            assert_eq!(of(public), None, "{public}");
        }
    }

    #[test]
    fn addresses_inside_addresses_are_seen() {
        for (address, why) in [
            ("::ffff:127.0.0.1", "loopback"),
            ("::127.0.0.1", "reserved"),
            ("64:ff9b::10.0.0.1", "private"),
            ("64:ff9b:1::1.1.1.1", "local NAT64"),
            ("2002:7f00:1::1", "loopback"),
            ("2002:c0a8:101::", "private"),
            // The server is private; then the client, whose bits are inverted.
            ("2001:0:a00:1::fefe:fefe", "private"),
            ("2001:0:101:101::80ff:fffe", "loopback"),
        ] {
            assert_eq!(of(address), Some(why), "{address}");
        }
    }

    proptest! {
        /// An IPv4 address within an IPv6 address is special if it is special by itself.
        #[test]
        fn wrapping_hides_nothing(bits: u32) {
            let bare = Ipv4Addr::from_bits(bits);
            let bits = u128::from(bits);
            let teredo = (0x2001_0000_0101_0101 << 64) | (bits ^ 0xffff_ffff);
            let wrapped = [
                u128::from(bare.to_ipv6_mapped()),
                (0x64_ff9b << 96) | bits,
                (0x2002 << 112) | (bits << 80) | 1,
                teredo,
            ];
            for one in wrapped {
                prop_assert_eq!(special(Ipv6Addr::from_bits(one).into()), special(bare.into()));
            }
        }
    }
}

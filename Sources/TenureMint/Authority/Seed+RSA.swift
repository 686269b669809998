import Crypto
import CryptoExtras
import Foundation

/// RSA keys from a seed; swift-crypto makes random ones only.
/// Candidates are derived from the seed, and those with a small factor are dropped. swift-crypto shows whether another
/// one is prime: beside a known prime, a prime makes a key that signs and a composite doesn't, because x^(d·e) = x is
/// the test of Fermat. That is fast even in a debug build, where our own arithmetic would take a minute.
extension Seed {
    /// Of 2048 bits.
    func rsa(_ label: String) throws -> _RSA.Signing.PrivateKey {
        guard let key = Self.key(try prime("\(label) p"), try prime("\(label) q")), Self.signs(key) else {
            throw MintingError("no RSA key for `\(label)` can be derived from this seed; use another one")
        }
        return key
    }

    private static let exponent: UInt64 = 65537

    /// The prime of RFC 2409, section 6.2, which has 1024 bits.
    private static let partner = RSANumber(
        printed: [
            0xFFFF_FFFF_FFFF_FFFF, 0xC90F_DAA2_2168_C234, 0xC4C6_628B_80DC_1CD1, 0x2902_4E08_8A67_CC74,
            0x020B_BEA6_3B13_9B22, 0x514A_0879_8E34_04DD, 0xEF95_19B3_CD3A_431B, 0x302B_0A6D_F25F_1437,
            0x4FE1_356D_6D51_C245, 0xE485_B576_625E_7EC6, 0xF44C_42E9_A637_ED6B, 0x0BFF_5CB6_F406_B7ED,
            0xEE38_6BFB_5A89_9FA5, 0xAE9F_2411_7C4B_1FE6, 0x4928_6651_ECE6_5381, 0xFFFF_FFFF_FFFF_FFFF,
        ])

    /// The first one after a number that the seed determines.
    private func prime(_ label: String) throws -> RSANumber {
        var bytes = bytes(for: "\(label) prime", count: 128)
        // Two of them have 2048 bits together.
        bytes[0] |= 0xC0
        bytes[127] |= 1
        let start = RSANumber(bigEndian: bytes)
        for (index, isSieved) in Self.sieve(from: start).enumerated() where !isSieved {
            let candidate = start + UInt64(2 * index)
            guard candidate.divided(by: Self.exponent).remainder != 1, let key = Self.key(candidate, Self.partner),
                Self.signs(key)
            else { continue }
            return candidate
        }
        throw MintingError("no RSA key for `\(label)` can be derived from this seed; use another one")
    }

    /// The odd numbers from there on that have a small factor. Every 355th number is a prime.
    private static func sieve(from start: RSANumber) -> [Bool] {
        var sieve = [Bool](repeating: false, count: 8192)
        for group in smallPrimes {
            let remainder = Int(start.divided(by: UInt64(group.product)).remainder)
            for prime in group.primes {
                let rest = (prime - remainder % prime) % prime
                var index = (rest & 1 == 0 ? rest : rest + prime) / 2
                while index < sieve.count {
                    sieve[index] = true
                    index += prime
                }
            }
        }
        return sieve
    }

    /// Odd primes, as many together as one division of a long number can test.
    private static let smallPrimes: [(product: Int, primes: [Int])] = {
        let end = 1 << 17
        var isComposite = [Bool](repeating: false, count: end)
        var groups: [(product: Int, primes: [Int])] = [(1, [])]
        var number = 3
        while number < end {
            if !isComposite[number] {
                let (product, isOver) = groups[groups.count - 1].product.multipliedReportingOverflow(by: number)
                if isOver {
                    groups.append((number, [number]))
                } else {
                    groups[groups.count - 1].product = product
                    groups[groups.count - 1].primes.append(number)
                }
                var multiple = number * number
                while multiple < end {
                    isComposite[multiple] = true
                    multiple += 2 * number
                }
            }
            number += 2
        }
        return groups
    }()

    /// Nil if they are known to be composite.
    private static func key(_ one: RSANumber, _ other: RSANumber) -> _RSA.Signing.PrivateKey? {
        let (p, q) = one < other ? (other, one) : (one, other)
        // The numbers are odd, so subtracting one needs no carry.
        let totient = p.withoutOne * q.withoutOne
        // d · e = 1 + k · totient. Modulo e, which is a prime, 1 / totient is totient^(e - 2).
        let rest = totient.divided(by: exponent).remainder
        let k = (exponent - power(rest, exponent - 2)) % exponent
        let (d, remainder) = (totient * RSANumber(k) + 1).divided(by: exponent)
        guard remainder == 0 else { return nil }
        return try? _RSA.Signing.PrivateKey(
            n: (p * q).bytes, e: RSANumber(exponent).bytes, d: d.bytes, p: p.bytes, q: q.bytes)
    }

    /// Modulo e.
    private static func power(_ base: UInt64, _ exponent: UInt64) -> UInt64 {
        var (result, square, rest): (UInt64, UInt64, UInt64) = (1, base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = result * square % Self.exponent }
            square = square * square % Self.exponent
            rest >>= 1
        }
        return result
    }

    /// The signature is checked with the public half before it is returned.
    private static func signs(_ key: _RSA.Signing.PrivateKey) -> Bool {
        let digest = SHA256.hash(data: Array("tenure".utf8))
        guard let signature = try? key.signature(for: digest, padding: .insecurePKCS1v1_5) else { return false }
        return key.publicKey.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
    }
}

extension RSANumber {
    fileprivate var withoutOne: RSANumber {
        var bytes = bytes
        bytes[bytes.count - 1] &= 0xFE
        return RSANumber(bigEndian: bytes)
    }
}

/// Numbers modulo an odd prime, with the operations that one ECDSA signature needs. Not constant in time: for test keys
/// only.
struct ScalarField {
    /// Limbs of 64 bits, the least significant first.
    typealias Number = [UInt64]

    let modulus: Number

    /// From big-endian bytes, a multiple of 8.
    init(modulus bytes: [UInt8]) {
        modulus = Self.number(bytes)
    }

    /// The orders of the curves (SEC 2, sections 2.4.2 and 2.5.1).
    static let p256 = ScalarField(
        modulus: [
            0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ])
    static let p384 = ScalarField(
        modulus: [
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC7, 0x63, 0x4D, 0x81, 0xF4, 0x37, 0x2D, 0xDF,
            0x58, 0x1A, 0x0D, 0xB2, 0x48, 0xB0, 0xA7, 0x7A, 0xEC, 0xEC, 0x19, 0x6A, 0xCC, 0xC5, 0x29, 0x73,
        ])

    /// The big-endian bytes, in the modulus's length, reduced.
    func reduced(_ bytes: [UInt8]) -> Number {
        let number = Self.number(bytes)
        return isLess(number, modulus) ? number : subtract(number, modulus)
    }

    func bytes(_ number: Number) -> [UInt8] {
        number.reversed().flatMap { limb in (0..<8).map { UInt8(truncatingIfNeeded: limb >> UInt64(56 - 8 * $0)) } }
    }

    func add(_ left: Number, _ right: Number) -> Number {
        let (sum, carry) = addWithCarry(left, right)
        return carry || !isLess(sum, modulus) ? subtract(sum, modulus) : sum
    }

    /// By doubling and adding.
    func multiply(_ left: Number, _ right: Number) -> Number {
        var product = Number(repeating: 0, count: modulus.count)
        for limb in right.reversed() {
            for bit in stride(from: 63, through: 0, by: -1) {
                product = add(product, product)
                if limb >> UInt64(bit) & 1 == 1 { product = add(product, left) }
            }
        }
        return product
    }

    /// Binary inversion (Handbook of Applied Cryptography, 14.61); `number` is not zero.
    func inverse(of number: Number) -> Number {
        var u = number
        var v = modulus
        var a = one
        var b = Number(repeating: 0, count: modulus.count)
        while !isZero(u) {
            while u[0] & 1 == 0 {
                u = half(u, carry: false)
                a = halfModulo(a)
            }
            while v[0] & 1 == 0 {
                v = half(v, carry: false)
                b = halfModulo(b)
            }
            if isLess(u, v) {
                v = subtract(v, u)
                b = subtractModulo(b, a)
            } else {
                u = subtract(u, v)
                a = subtractModulo(a, b)
            }
        }
        return b
    }

    func isZero(_ number: Number) -> Bool { number.allSatisfy { $0 == 0 } }

    private var one: Number { [1] + Number(repeating: 0, count: modulus.count - 1) }

    private static func number(_ bytes: [UInt8]) -> Number {
        stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<min(start + 8, bytes.count)].reduce(0) { $0 << 8 | UInt64($1) }
        }.reversed()
    }

    private func isLess(_ left: Number, _ right: Number) -> Bool {
        for index in left.indices.reversed() where left[index] != right[index] { return left[index] < right[index] }
        return false
    }

    private func addWithCarry(_ left: Number, _ right: Number) -> (Number, carry: Bool) {
        var sum = left
        var carry = false
        for index in sum.indices {
            let (partial, first) = left[index].addingReportingOverflow(right[index])
            let (whole, second) = partial.addingReportingOverflow(carry ? 1 : 0)
            sum[index] = whole
            carry = first || second
        }
        return (sum, carry)
    }

    private func subtract(_ left: Number, _ right: Number) -> Number {
        var difference = left
        var borrow = false
        for index in difference.indices {
            let (partial, first) = left[index].subtractingReportingOverflow(right[index])
            let (whole, second) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
            difference[index] = whole
            borrow = first || second
        }
        return difference
    }

    private func subtractModulo(_ left: Number, _ right: Number) -> Number {
        isLess(left, right) ? subtract(addWithCarry(left, modulus).0, right) : subtract(left, right)
    }

    private func half(_ number: Number, carry: Bool) -> Number {
        var result = number
        var carry: UInt64 = carry ? 1 << 63 : 0
        for index in result.indices.reversed() {
            result[index] = number[index] >> 1 | carry
            carry = number[index] << 63
        }
        return result
    }

    private func halfModulo(_ number: Number) -> Number {
        guard number[0] & 1 == 1 else { return half(number, carry: false) }
        let (sum, carry) = addWithCarry(number, modulus)
        return half(sum, carry: carry)
    }
}

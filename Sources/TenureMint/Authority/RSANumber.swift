/// A natural number of many limbs, with the operations that an RSA key from a seed needs. For test keys only.
struct RSANumber: Hashable {
    /// 64 bits each, the least significant first.
    private(set) var limbs: [UInt64]

    init(_ value: UInt64) { limbs = [value] }

    /// The most significant limb first, as numbers are printed.
    init(printed limbs: [UInt64]) { self.limbs = limbs.reversed() }

    /// From big-endian bytes, a multiple of 8.
    init(bigEndian bytes: [UInt8]) {
        limbs = stride(from: bytes.count - 8, through: 0, by: -8).map { start in
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Big-endian, a multiple of 8.
    var bytes: [UInt8] {
        limbs.reversed().flatMap { limb in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: limb >> UInt64($0)) }
        }
    }

    static func < (left: Self, right: Self) -> Bool {
        guard left.limbs.count == right.limbs.count else { return left.limbs.count < right.limbs.count }
        return left.limbs.reversed().lexicographicallyPrecedes(right.limbs.reversed())
    }

    static func + (left: Self, right: UInt64) -> Self {
        var result = left
        var carry = right
        for index in result.limbs.indices where carry > 0 {
            let (sum, isOver) = result.limbs[index].addingReportingOverflow(carry)
            result.limbs[index] = sum
            carry = isOver ? 1 : 0
        }
        if carry > 0 { result.limbs.append(carry) }
        return result
    }

    static func * (left: Self, right: Self) -> Self {
        var limbs = [UInt64](repeating: 0, count: left.limbs.count + right.limbs.count)
        for (i, a) in left.limbs.enumerated() {
            var carry: UInt64 = 0
            for (j, b) in right.limbs.enumerated() {
                // (2^64 - 1)^2 + 2 (2^64 - 1) is below 2^128.
                var (high, low) = a.multipliedFullWidth(by: b)
                var isOver: Bool
                (low, isOver) = low.addingReportingOverflow(limbs[i + j])
                if isOver { high += 1 }
                (low, isOver) = low.addingReportingOverflow(carry)
                if isOver { high += 1 }
                limbs[i + j] = low
                carry = high
            }
            limbs[i + right.limbs.count] = carry
        }
        var result = RSANumber(0)
        result.limbs = limbs
        return result
    }

    func divided(by divisor: UInt64) -> (quotient: Self, remainder: UInt64) {
        var quotient = self
        var remainder: UInt64 = 0
        for index in limbs.indices.reversed() {
            (quotient.limbs[index], remainder) = divisor.dividingFullWidth((remainder, limbs[index]))
        }
        return (quotient, remainder)
    }
}

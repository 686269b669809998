package import Foundation

/// Reads and writes durations, as in `changeover: { from: -24h, until: +48h }`. Other examples are `90m`, `2d`, `1w`,
/// `30s`, `1d12h`, and ISO 8601's `PT24H` and `P1DT12H`. A day has 24 hours. Months and years can't be used, because
/// they have no exact length.
package enum Duration {
    /// The maximum duration in seconds, about thirty years.
    private static let maximum: TimeInterval = 999_999_999

    /// Reads a duration in seconds; nil if the text isn't a duration.
    package static func seconds(_ text: String) -> TimeInterval? {
        var rest = text.utf8[...]
        let sign = rest.first == UInt8(ascii: "-") ? -1.0 : 1
        if let first = rest.first, "+-".utf8.contains(first) { rest = rest.dropFirst() }
        if rest.elementsEqual("0".utf8) { return 0 }
        var units = Array("wdhms".utf8)
        // In ISO 8601, hours, minutes and seconds are allowed only after `T`.
        var isTime = true
        if rest.first == UInt8(ascii: "P") {
            rest = rest.dropFirst()
            units = Array("WDTHMS".utf8)
            isTime = false
        }
        var total = 0.0
        var hasParts = false
        var unitsLeft = units[...]
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: "T"), let unitIndex = unitsLeft.firstIndex(of: UInt8(ascii: "T")) {
                unitsLeft = unitsLeft[(unitIndex + 1)...]
                rest = rest.dropFirst()
                isTime = true
                guard !rest.isEmpty else { return nil }
                continue
            }
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...9).contains(digits.count), let number = Int(Substring(digits)) else { return nil }
            rest = rest.dropFirst(digits.count)
            guard let unit = rest.popFirst(), let unitIndex = unitsLeft.firstIndex(of: unit),
                // The bit 0x20 makes a letter lower case.
                let length = length(ofUnit: unit | 0x20, isTime: isTime)
            else { return nil }
            unitsLeft = unitsLeft[(unitIndex + 1)...]
            total += Double(number) * length
            hasParts = true
        }
        return hasParts && total <= maximum ? sign * total : nil
    }

    /// Returns the length of a unit in seconds; nil if there is no such unit.
    ///
    /// - Parameter isTime: whether the units of ISO 8601 that are allowed only after `T` are allowed: `h`, `m` and `s`.
    private static func length(ofUnit unit: UInt8, isTime: Bool) -> TimeInterval? {
        switch unit {
        case UInt8(ascii: "w"): 7 * 86_400
        case UInt8(ascii: "d"): 86_400
        case UInt8(ascii: "h") where isTime: 3600
        case UInt8(ascii: "m") where isTime: 60
        case UInt8(ascii: "s") where isTime: 1
        default: nil
        }
    }

    /// Writes a duration as a whole number of hours, minutes or seconds. Fractions of a second are dropped.
    package static func text(_ seconds: TimeInterval) -> String {
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -maximum), maximum)
        let whole = Int(bounded.rounded(.towardZero))
        if whole % 3600 == 0 { return "\(whole / 3600)h" }
        if whole % 60 == 0 { return "\(whole / 60)m" }
        return "\(whole)s"
    }
}

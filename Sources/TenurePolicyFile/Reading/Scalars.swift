package import Foundation
package import TenureCore
import TenureJSON

/// Functions that read a scalar (a single value, such as a date) of a policy. If the value has the wrong format, they
/// report a mistake and return nil.
extension Part {
    /// Reports a mistake, leaves this part out, and returns nil.
    func refuse<Value>(_ reading: inout Reading, _ message: String, code: String = "mistake") -> Value? {
        reading.report(message, at: position, breaking: path, code: code)
        return nil
    }

    /// Returns the text of a scalar, quoted or not. For any other value, reports that it isn't `expected`.
    private func scalar(_ reading: inout Reading, _ expected: @autoclosure () -> String) -> String? {
        node.text ?? refuse(&reading, "\(node.kindInWords) isn't \(expected())")
    }

    /// Reads a name or ID. A string that YAML or JSON would read as a number or a Boolean must be in quotes.
    package func name(_ reading: inout Reading, example: String) -> String? {
        switch node.content {
        case .quoted(let text): return text
        case .plain(let text):
            guard !JSONDocument.isNumber(text), !["true", "false"].contains(text.lowercased()) else {
                return refuse(&reading, "`\(text.shortened)` isn't text; put it in quotes: `\"\(text.shortened)\"`")
            }
            return text
        case .null, .sequence, .mapping:
            return refuse(&reading, "\(node.kindInWords) isn't possible here; write a string, such as `\(example)`")
        }
    }

    /// Reads a word that must be a raw value of the enumeration `Word`.
    package func word<Word: RawRepresentable & CaseIterable>(_ reading: inout Reading, of _: Word.Type) -> Word?
    where Word.RawValue == String {
        word(&reading, among: Array(Word.allCases)) { $0.rawValue }
    }

    /// Reads a word that must mean one of `values`.
    ///
    /// - Parameter spelled: returns how a value is written in a file: by default, as the name of its case.
    package func word<Value>(
        _ reading: inout Reading, among values: [Value], spelled: (Value) -> String = { "\($0)" }
    ) -> Value? {
        let words = values.map(spelled)
        guard let text = scalar(&reading, "possible here; write \(Spelling.choice(of: words))") else { return nil }
        guard let index = words.firstIndex(of: text) else {
            return refuse(&reading, "`\(text.shortened)` is unknown here; \(Spelling.advice(for: text, among: words))")
        }
        return values[index]
    }

    /// Reads the name of a platform.
    package func platform(_ reading: inout Reading) -> Platform? {
        guard let text = scalar(&reading, "a platform; write \(Spelling.choice(of: Platform.allCases.map(\.rawValue)))")
        else { return nil }
        return Platform(rawValue: text) ?? refuse(&reading, PlatformName.advice(for: text))
    }

    /// Reads a version, with or without quotes. Its text is used, so `1.10` isn't changed to `1.1`.
    func version(_ reading: inout Reading, _ key: VersionKey) -> AppVersion? {
        let example = key == .bundleVersion ? "\"120\"" : "\"2.0\""
        guard let text = scalar(&reading, "a version; write `\(key.rawValue): \(example)`") else { return nil }
        return AppVersion(text)
            ?? refuse(
                &reading,
                "`\(text.shortened)` isn't a version that the App Store can order; write numbers separated by periods, such as `\(example)`",
                code: "malformed-version")
    }

    /// Reads a whole number without quotes.
    package func integer<Number: FixedWidthInteger>(
        _ reading: inout Reading, example: String, as _: Number.Type = Int.self
    ) -> Number? {
        guard case .plain(let text) = node.content, let number = Number(text) else {
            let isQuoted = if case .quoted(let text) = node.content { Number(text) != nil } else { false }
            return refuse(
                &reading,
                "\(node.kindInWords) isn't a whole number; write \(isQuoted ? "it without quotes" : "one"), such as `\(example)`"
            )
        }
        return number
    }

    /// Reads a date with time and time zone. A day alone is a mistake.
    func instant(_ reading: inout Reading) -> Date? {
        guard let text = scalar(&reading, "an instant; write one such as `2015-06-10T18:00:00Z`") else { return nil }
        if let date = Date(rfc3339: text) { return date }
        if CivilDay(text) != nil {
            return refuse(
                &reading,
                "`\(text)` is a day, which begins at a different time in each time zone; write a time and a time zone, such as `\(text)T18:00:00Z`"
            )
        }
        return refuse(&reading, Self.advice(forInstant: text))
    }

    /// Reads a date with time, or a day, which means its midnight in UTC.
    package func dayOrInstant(_ reading: inout Reading) -> Date? { limit(&reading, \.midnight) }

    /// Reads a date with time, or a day: for example `until` of an entry under `honors`.
    ///
    /// - Parameter ofDay: converts a day to an instant, because a day begins and ends at different times in each time
    ///   zone.
    func limit(_ reading: inout Reading, _ ofDay: (CivilDay) -> Date) -> Date? {
        guard let text = scalar(&reading, "a date; write one such as `2015-06-10`") else { return nil }
        return CivilDay(text).map(ofDay) ?? Date(rfc3339: text) ?? refuse(&reading, Self.advice(forInstant: text))
    }

    /// Reads the date of a release. A day means an unknown time of that day.
    func moment(_ reading: inout Reading) -> Release.Moment? {
        guard let text = scalar(&reading, "a date; write one such as `2015-06-10`") else { return nil }
        return Release.Moment(text) ?? refuse(&reading, Self.advice(forInstant: text))
    }

    /// Returns the message about a string that isn't a date.
    static func advice(forInstant text: String) -> String {
        if Date(rfc3339: text + "Z") != nil {
            return "`\(text)` has no time zone; write `\(text)Z` for UTC, or an offset such as `\(text)+02:00`"
        }
        return "`\(text.shortened)` isn't a date; write one such as `2015-06-10` or `2015-06-10T18:00:00Z`"
    }

    /// Reads a duration, such as `72h`. Returns its seconds.
    package func duration(_ reading: inout Reading, example: String) -> TimeInterval? {
        guard let text = scalar(&reading, "a length of time; write one such as `\(example)`") else { return nil }
        return Duration.seconds(text)
            ?? refuse(
                &reading,
                "`\(text.shortened)` isn't a length of time; write a number with its unit (`w`, `d`, `h`, `m`, `s`), such as `\(example)`"
            )
    }

    /// Reads a length of calendar time, such as `P1Y` (one year).
    package func period(_ reading: inout Reading) -> CalendarPeriod? {
        let advice = "write one such as `P1Y`, `P3M`, `P2W` or `P10D`"
        return node.text.flatMap { CalendarPeriod(iso8601: $0) }
            ?? refuse(&reading, "\(node.kindInWords) isn't a calendar period; \(advice)")
    }
}

extension Release.Moment {
    /// Reads a day or an instant; nil for any other text.
    init?(_ text: String) {
        guard let moment = CivilDay(text).map(Self.day) ?? Date(rfc3339: text).map(Self.instant) else { return nil }
        self = moment
    }

    /// The moment as a release list has it: a day or an instant. For a release without a date, `undated`, for messages.
    package var text: String {
        switch self {
        case .instant(let date): date.rfc3339
        case .day(let day): day.description
        case .undated: "undated"
        }
    }
}

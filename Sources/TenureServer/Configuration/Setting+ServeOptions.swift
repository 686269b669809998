import TenurePolicyFile

/// Creates settings that set one property of `ServeOptions`. The property's initial value is the default.
///
/// In the closures, `$0` has the values of all settings, and `$1` is the `ServeOptions` to change.
extension Setting {
    /// The property that a setting sets.
    typealias Path<Value> = any WritableKeyPath<ServeOptions, Value> & Sendable

    /// Creates a setting for a number.
    init(_ name: String, _ range: ClosedRange<Int>, _ path: Path<Int>, isOfApp: Bool = false, _ summary: String) {
        self.init(name, .number(range), fallback: Self.fallback(path), isOfApp: isOfApp, summary) {
            if let value = $0.text(named: name).flatMap({ Int($0) }) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a whole number that is stored in a property of type `Double`.
    init(_ name: String, _ range: ClosedRange<Int>, _ path: Path<Double>, isOfApp: Bool = false, _ summary: String) {
        let fallback = ServeOptions.defaults.map { "\(Int($0[keyPath: path]))" }
        self.init(name, .number(range), fallback: fallback, isOfApp: isOfApp, summary) {
            if let value = $0.text(named: name).flatMap({ Double($0) }) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a length of time. The range is in seconds.
    init(
        _ name: String, _ range: ClosedRange<Double>, fallback: String, _ path: Path<Double>, isOfApp: Bool = false,
        _ summary: String
    ) {
        self.init(name, .length(range), fallback: fallback, isOfApp: isOfApp, summary) {
            let text = $0.text(named: name) ?? fallback
            if let value = TenurePolicyFile.Duration.seconds(text) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a string. If the property is initially empty, the setting has no default.
    init(_ name: String, _ kind: Kind, _ path: Path<String>, isOfApp: Bool = false, _ summary: String) {
        self.init(name, kind, fallback: Self.fallback(path), isOfApp: isOfApp, summary) {
            if let text = $0.text(named: name) { $1[keyPath: path] = text }
        }
    }

    /// Creates a setting for a string without a default.
    init(
        _ name: String, _ kind: Kind, _ path: Path<String?>, isForCommandOnly: Bool = false, isOfApp: Bool = false,
        _ summary: String
    ) {
        self.init(name, kind, isForCommandOnly: isForCommandOnly, isOfApp: isOfApp, summary) {
            $1[keyPath: path] = $0.text(named: name)
        }
    }

    /// Creates a setting for `true` or `false`.
    init(_ name: String, _ path: Path<Bool>, isForCommandOnly: Bool = false, _ summary: String) {
        let fallback = isForCommandOnly ? nil : Self.fallback(path)
        self.init(name, .flag, fallback: fallback, isForCommandOnly: isForCommandOnly, summary) {
            $1[keyPath: path] = $0.text(named: name) == "true"
        }
    }

    /// Creates a setting for one of several names.
    init<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ path: Path<Choice>, isOfApp: Bool = false, _ summary: String
    ) {
        let fallback = ServeOptions.defaults?[keyPath: path].rawValue
        self.init(name, .choice(Choice.allCases.map(\.rawValue)), fallback: fallback, isOfApp: isOfApp, summary) {
            if let choice = $0.text(named: name).flatMap({ Choice(rawValue: $0) }) { $1[keyPath: path] = choice }
        }
    }

    /// Creates a setting for a list. If the property is initially empty, the setting has no default.
    init(
        _ name: String, listOf kind: Kind, _ path: Path<[String]>, flag: String? = nil, isOfApp: Bool = false,
        _ summary: String
    ) {
        let fallback = ServeOptions.defaults?[keyPath: path].joined(separator: ", ")
        self.init(name, .list(kind), fallback: fallback == "" ? nil : fallback, flag: flag, isOfApp: isOfApp, summary) {
            if let texts = $0.list(named: name) { $1[keyPath: path] = texts }
        }
    }

    /// Returns the default as text: the property's initial value; nil if it is empty.
    private static func fallback<Value>(_ path: Path<Value>) -> String? {
        let text = ServeOptions.defaults.map { "\($0[keyPath: path])" }
        return text == "" ? nil : text
    }
}

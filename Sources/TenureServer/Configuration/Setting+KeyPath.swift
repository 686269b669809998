import TenureCore

/// Settings that set one property of the configuration. The property's initial value is the default.
extension Setting {
    /// The property of the configuration that a setting sets.
    typealias Path<Value> = any WritableKeyPath<ServiceConfiguration, Value> & Sendable

    /// Creates a setting for a number.
    init(
        _ name: String, _ range: ClosedRange<Int>, _ path: Path<Int>, isOfApp: Bool = false, _ sentence: String
    ) {
        self.init(name, .number(range), fallback: Self.fallback(path), isOfApp: isOfApp, sentence) {
            if let value = $0.text(named: name).flatMap({ Int($0) }) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a whole number that is stored in a property of type `Double`.
    init(
        _ name: String, _ range: ClosedRange<Int>, _ path: Path<Double>, isOfApp: Bool = false, _ sentence: String
    ) {
        let fallback = Self.defaults.map { "\(Int($0[keyPath: path]))" }
        self.init(name, .number(range), fallback: fallback, isOfApp: isOfApp, sentence) {
            if let value = $0.text(named: name).flatMap({ Double($0) }) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a text with a default.
    init(_ name: String, _ kind: Kind, _ path: Path<String>, _ sentence: String) {
        self.init(name, kind, fallback: Self.fallback(path), sentence) {
            if let text = $0.text(named: name) { $1[keyPath: path] = text }
        }
    }

    /// Creates a setting for a text without a default.
    init(_ name: String, _ kind: Kind, _ path: Path<String?>, isOfApp: Bool = false, _ sentence: String) {
        self.init(name, kind, isOfApp: isOfApp, sentence) { $1[keyPath: path] = $0.text(named: name) }
    }

    /// Creates a setting for `true` or `false`.
    init(_ name: String, _ path: Path<Bool>, _ sentence: String) {
        self.init(name, .flag, fallback: Self.fallback(path), sentence) {
            $1[keyPath: path] = $0.text(named: name) == "true"
        }
    }

    /// Creates a setting for one of several names.
    init<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ path: Path<Choice>, isOfApp: Bool = false, _ sentence: String
    ) {
        let fallback = Self.defaults?[keyPath: path].rawValue
        self.init(name, .choice(Choice.allCases.map(\.rawValue)), fallback: fallback, isOfApp: isOfApp, sentence) {
            if let choice = $0.text(named: name).flatMap({ Choice(rawValue: $0) }) { $1[keyPath: path] = choice }
        }
    }

    /// The default as text: the property's initial value.
    private static func fallback<Value>(_ path: Path<Value>) -> String? {
        defaults.map { "\($0[keyPath: path])" }
    }

    private static let defaults = ServiceConfiguration.withoutPolicy
}

extension ServiceConfiguration {
    /// A configuration with all defaults and the policy of an invented app. With it, the other settings can be checked if
    /// the policy can't be read, so that one run reports all mistakes.
    package static let withoutPolicy = try? ServiceConfiguration(
        databasePath: "",
        policy: Policy(
            app: Policy.App(bundleID: "com.example.unknown", appleID: 1),
            eras: [Era(name: "unknown", model: .free)], entitlements: [Entitlement(name: "unknown")]))

    /// Applies all settings that require neither reading a file nor other settings.
    package mutating func set(from values: SettingValues) {
        for setting in Setting.all { setting.apply?(values, &self) }
    }
}

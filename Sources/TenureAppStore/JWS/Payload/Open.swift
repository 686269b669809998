import TenureJSON

/// A value of an enumeration to which Apple may add cases: a known case, or the unknown value as written.
public enum Open<Known: RawRepresentable & Sendable & Hashable>: Sendable, Hashable
where Known.RawValue: Sendable & Hashable {
    /// A value that this version of Tenure knows.
    case known(Known)
    /// A value that Apple added later, as written.
    case unknown(Known.RawValue)

    /// Never fails: a value without a case becomes `unknown`.
    public init(rawValue: Known.RawValue) { self = Known(rawValue: rawValue).map(Open.known) ?? .unknown(rawValue) }

    /// The value as Apple writes it, even if this version of Tenure doesn't know it.
    public var rawValue: Known.RawValue {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let rawValue): rawValue
        }
    }

    /// The known case; nil if the value is unknown.
    public var known: Known? { if case .known(let value) = self { value } else { nil } }

    /// Compares with a case, as in `payload.type == .consumable`. False for an unknown value.
    public static func == (value: Open, known: Known) -> Bool { value.known == known }
    /// True for every other case and for an unknown value.
    public static func != (value: Open, known: Known) -> Bool { value.known != known }
}

extension Open: FieldValue where Known.RawValue: FieldValue {
    static var shape: FieldShape { Known.RawValue.shape }

    init?(_ tape: JSONTape, at index: Int) {
        guard let rawValue = Known.RawValue(tape, at: index) else { return nil }
        self.init(rawValue: rawValue)
    }
}

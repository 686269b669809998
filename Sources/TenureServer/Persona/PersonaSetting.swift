import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The fields that `tenure persona create --set` accepts, with Apple's names. A persona is a test customer for sandbox
/// builds.
enum PersonaSetting: String, CaseIterable {
    case originalPlatform, originalAppVersion, originalPurchaseDate, preorderDate, revocationDate, expirationDate
}

extension AppProof {
    /// Creates a persona's proof of getting the app. It is the proof that an app transaction with these fields would
    /// give, signed at the date `signed`.
    ///
    /// A date is an instant as in RFC 3339, or a day, which means its midnight in UTC. Only receipts of volume
    /// purchases have an expiration date, so settings with an expiration date give the proof of a receipt. Throws
    /// `malformedRequest` if a name or a value is invalid.
    init(settings: [String: String], signed: Date) throws(Problem) {
        let names = PersonaSetting.allCases.map(\.rawValue)
        if let unknown = settings.keys.sorted().first(where: { !names.contains($0) }) {
            throw Problem(
                .malformedRequest,
                "there is no setting `\(unknown.prefix(64))`; use one of \(names.joined(separator: ", "))")
        }
        /// The text of a setting; nil if it's missing or empty.
        func text(_ setting: PersonaSetting) -> String? { settings[setting.rawValue].flatMap { $0.isEmpty ? nil : $0 } }
        /// The date of a setting; nil if it's missing or empty. Throws if it isn't a date.
        func date(_ setting: PersonaSetting) throws(Problem) -> Date? {
            guard let value = text(setting) else { return nil }
            guard let date = Date(written: value) else {
                throw Problem(
                    .malformedRequest,
                    """
                    `\(setting.rawValue)` must be a day such as 2014-05-01 or an instant such as 2014-05-01T18:00:00Z; \
                    found `\(value.prefix(64))`
                    """)
            }
            return date
        }
        let platform = try text(.originalPlatform).map { name throws(Problem) in
            guard let platform = Platform(rawValue: name) else {
                throw Problem(
                    .malformedRequest,
                    """
                    there is no platform `\(name.prefix(64))`; use one of \
                    \(Platform.allCases.map(\.rawValue).joined(separator: ", "))
                    """)
            }
            return platform
        }
        let expirationDate = try date(.expirationDate)
        let version = text(.originalAppVersion)
        if let version, version.utf8.count > 64 {
            throw Problem(.malformedRequest, "`originalAppVersion` has more than 64 bytes; use a version such as `2.0`")
        }
        self.init(
            kind: expirationDate == nil ? .appTransaction : .receipt, signedDate: signed.toMillisecond,
            originalPlatform: platform, originalAppVersion: version,
            originalPurchaseDate: try date(.originalPurchaseDate),
            preorderDate: try date(.preorderDate), revocationDate: try date(.revocationDate),
            expirationDate: expirationDate)
    }

    /// The settings as `init(settings:)` reads them, in the order of `PersonaSetting`.
    var settings: [(String, String)] {
        let values: [(PersonaSetting, String?)] = [
            (.originalPlatform, originalPlatform?.rawValue), (.originalAppVersion, originalAppVersion),
            (.originalPurchaseDate, originalPurchaseDate?.rfc3339), (.preorderDate, preorderDate?.rfc3339),
            (.revocationDate, revocationDate?.rfc3339), (.expirationDate, expirationDate?.rfc3339),
        ]
        return values.compactMap { setting, value in value.map { (setting.rawValue, $0) } }
    }
}

import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The fields of a persona, a test customer for sandbox builds, that `tenure persona create --set` accepts. The names
/// are Apple's.
enum PersonaSetting: String, CaseIterable {
    case originalPlatform
    case originalAppVersion
    case originalPurchaseDate
    case preorderDate
    case revocationDate
    case expirationDate
}

extension AppProof {
    /// Creates a persona's proof of getting the app: the same proof as from the app transaction of a production
    /// customer with these settings, signed at the date `signed`.
    ///
    /// A date is an instant as in RFC 3339, or a day, which means its midnight in UTC. Only receipts of volume
    /// purchases have an expiration date, so settings with an expiration date give the proof of a receipt.
    init(settings: [String: String], signed: Date) throws(Problem) {
        let names = PersonaSetting.allCases.map(\.rawValue)
        if let unknown = settings.keys.sorted().first(where: { !names.contains($0) }) {
            throw Problem(
                .malformedRequest,
                "there is no setting `\(unknown.prefix(64))`; use one of \(names.joined(separator: ", "))")
        }
        let values = PersonaValues(settings: settings)
        let platform = try values.text(.originalPlatform).map { name throws(Problem) in
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
        let expirationDate = try values.date(.expirationDate)
        let version = values.text(.originalAppVersion)
        if let version, version.utf8.count > 64 {
            throw Problem(.malformedRequest, "`originalAppVersion` has more than 64 bytes; use a version such as `2.0`")
        }
        self.init(
            kind: expirationDate == nil ? .appTransaction : .receipt, signedDate: signed.toMillisecond,
            originalPlatform: platform, originalAppVersion: version,
            originalPurchaseDate: try values.date(.originalPurchaseDate),
            preorderDate: try values.date(.preorderDate), revocationDate: try values.date(.revocationDate),
            expirationDate: expirationDate)
    }

    /// The settings as `init(settings:)` reads them, in the order of `PersonaSetting`.
    var settings: [(String, String)] {
        PersonaSetting.allCases.compactMap { setting in
            let value: String? =
                switch setting {
                case .originalPlatform: originalPlatform?.rawValue
                case .originalAppVersion: originalAppVersion
                case .originalPurchaseDate: originalPurchaseDate?.rfc3339
                case .preorderDate: preorderDate?.rfc3339
                case .revocationDate: revocationDate?.rfc3339
                case .expirationDate: expirationDate?.rfc3339
                }
            return value.map { (setting.rawValue, $0) }
        }
    }
}

/// Reads the texts and dates of a persona's settings, by name.
private struct PersonaValues {
    let settings: [String: String]

    /// The text of a setting; nil if it's missing or empty.
    func text(_ setting: PersonaSetting) -> String? {
        settings[setting.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The date of a setting; nil if it's missing or empty. Throws if it isn't a date.
    func date(_ setting: PersonaSetting) throws(Problem) -> Date? {
        guard let text = text(setting) else { return nil }
        guard let date = Date(written: text) else {
            throw Problem(
                .malformedRequest,
                """
                `\(setting.rawValue)` must be a day such as 2014-05-01 or an instant such as 2014-05-01T18:00:00Z; \
                found `\(text.prefix(64))`
                """)
        }
        return date
    }
}

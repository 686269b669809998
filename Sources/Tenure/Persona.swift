public import Foundation
import TenureCore

extension Tenure {
    /// A test customer for builds from Xcode and TestFlight.
    ///
    /// In the sandbox and in Xcode, all customers have the same original version and date. So without such a test
    /// customer, a *persona*, you can't test how the policy treats early customers.
    public struct Persona: Sendable, Hashable {
        /// Either a customer who got this version of the app on this date, or a test customer that the service created
        /// and that its token identifies.
        enum Kind: Sendable, Hashable {
            case acquired(version: String, platform: Platform, date: Date)
            case token(String)
        }

        let kind: Kind

        /// A customer who got the app on iOS, iPadOS, tvOS, watchOS or visionOS.
        ///
        /// - Parameters:
        ///   - build: the `CFBundleVersion` of the copy they got.
        ///   - date: when they got it.
        public static func earlyBuyer(build: String, on date: Date) -> Persona {
            #if os(tvOS)
                let platform = Platform.tvOS
            #elseif os(watchOS)
                let platform = Platform.watchOS
            #elseif os(visionOS)
                let platform = Platform.visionOS
            #else
                let platform = Platform.iOS
            #endif
            return Persona(kind: .acquired(version: build, platform: platform, date: date))
        }

        /// A customer who got the app on the Mac.
        ///
        /// - Parameters:
        ///   - version: the `CFBundleShortVersionString` of the copy they got.
        ///   - date: when they got it.
        public static func earlyBuyer(version: String, on date: Date) -> Persona {
            Persona(kind: .acquired(version: version, platform: .macOS, date: date))
        }

        /// A test customer that the service created: pass the token that `tenure persona create` prints.
        public static func token(_ token: String) -> Persona { Persona(kind: .token(token)) }

        /// The persona with the proof of when and in which version it got the app. Nil for a persona of the service.
        var evidence: TenureCore.Persona? {
            guard case .acquired(let version, let platform, let date) = kind else { return nil }
            return TenureCore.Persona(
                name: "early buyer of \(version)",
                proof: AppProof(
                    kind: .appTransaction, signedDate: nil, id: nil, originalPlatform: platform,
                    originalAppVersion: version, originalPurchaseDate: date))
        }

        /// The token of a persona of the service. Nil for any other persona.
        var token: String? {
            if case .token(let token) = kind { token } else { nil }
        }

        /// The persona's name in the stored state. If the name changes, the client discards the stored answers, because
        /// they are about another persona. The name contains no token.
        var storedName: String {
            switch kind {
            case .token(let token): token.hashed
            case .acquired(let version, let platform, let date):
                "\(platform.rawValue)/\(version)/\(date.timeIntervalSince1970)".hashed
            }
        }
    }
}

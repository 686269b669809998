package import Foundation
package import TenureCore

/// A scenario: an app, its customers, what happens to them, and what they must be able to use.
package struct Scenario: Sendable {
    package let name: String
    /// The path of the policy file, relative to the scenario's file; nil if the scenario has no policy and the command
    /// selects it.
    package let policy: String?
    /// The initial state of the local App Store.
    package let header: JournalHeader
    package let customers: [Customer]
    package let timeline: [Step]

    package struct Customer: Sendable, Hashable {
        package let name: String
        package let storefront: String
        package let family: String?
        package let shows: Showing
    }

    /// What a customer's app can send.
    package enum Showing: String, CaseIterable, Sendable, Hashable {
        /// The app transaction and all transactions, as apps with StoreKit 2 send them.
        case appTransaction
        /// Only the receipt, as older apps send it.
        case receipt
        case both
        /// StoreKit doesn't answer, and there is no receipt.
        case nothing
    }

    /// What happens at one time, and what customers must be able to use then.
    package struct Step: Sendable {
        package enum Time: Sendable, Hashable {
            case at(Date)
            /// A number of seconds after the previous step.
            case after(TimeInterval)
        }

        package let time: Time
        /// The events, in the order of the file.
        package let events: [Event]
        /// The place of the step in the file, such as `scenario.yaml:12:7`.
        let place: String
    }

    package enum Event: Sendable {
        case operation(AppStoreOperation, place: String)
        /// The service fetches every notification that it may have missed.
        case catchUp
        case expect(Expectation)
    }

    /// The decision that the service must make about one customer and one entitlement.
    package struct Expectation: Sendable, Hashable {
        package let customer: String
        package let entitlement: String
        package let outcome: Decision.Outcome
        /// Whether the app is opened and sends its artifacts (`expect`), or the service decides from what it knows
        /// (`known`).
        package let opensApp: Bool
        /// The place of the expectation in the file, such as `scenario.yaml:12:7`.
        package let place: String
    }
}

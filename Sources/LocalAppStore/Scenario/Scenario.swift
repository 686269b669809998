package import Foundation
package import TenureCore

/// A rehearsal that reads like a story: an app, its customers, what happens to them, and what they must be able to use.
package struct Scenario: Sendable {
    package let name: String
    package let story: String?
    /// The policy file that it is about, relative to its own; nil where the command names one.
    package let policy: String?
    package let founding: Founding
    package let customers: [Customer]
    package let timeline: [Step]

    package struct Customer: Sendable, Hashable {
        package let name: String
        package let storefront: String
        package let family: String?
        package let shows: Showing
    }

    /// What a customer's app can hand over.
    package enum Showing: String, CaseIterable, Sendable, Hashable {
        /// As StoreKit 2 does it: app transaction and all transactions.
        case appTransaction
        /// As apps did it before: the receipt file and nothing else.
        case receipt
        case both
        /// StoreKit does not answer, and there is no receipt.
        case nothing
    }

    package struct Step: Sendable {
        package enum Time: Sendable, Hashable {
            case at(Date)
            case after(TimeInterval)
        }

        package let time: Time
        /// In the order in which they stand.
        package let events: [Event]
        package let place: String
    }

    package enum Event: Sendable {
        case act(Act, place: String)
        /// The service asks the App Store for every notification that it may have missed.
        case catchUp
        case expect(Expectation)
    }

    package struct Expectation: Sendable, Hashable {
        package let customer: String
        package let entitlement: String
        package let outcome: Decision.Outcome
        /// Whether the app is opened, and hands over what it has; or the service answers from what it knows.
        package let opensApp: Bool
        /// `scenario.yaml:12:7`
        package let place: String
    }
}

package import Foundation
package import TenureCore
import TenureJSON

/// A scenario: an app, its customers, what happens to them, and what they must be able to use.
package struct Scenario: Sendable {
    package let name: String
    /// The path of the policy file, relative to the scenario's file. Nil if the scenario names no policy: then it must
    /// be passed with `tenure scenario run --policy`.
    package let policy: String?
    /// The initial state of the local App Store.
    package let header: JournalHeader
    package let customers: [Customer]
    package let timeline: [Step]

    /// A customer who exists from the beginning.
    package struct Customer: Sendable, Hashable {
        package let name: String
        package let storefront: String
        package let family: String?
        /// Which artifacts the customer's app sends.
        package let shows: Showing
    }

    /// Which artifacts a customer's app can send.
    package enum Showing: String, CaseIterable, Sendable, Hashable {
        /// The app transaction and all transactions, as apps with StoreKit 2 send them.
        case appTransaction
        /// Only the receipt, as older apps send it.
        case receipt
        /// The artifacts of both.
        case both
        /// StoreKit doesn't answer, and there is no receipt.
        case nothing
    }

    /// What happens at one time, and what customers must be able to use then.
    package struct Step: Sendable {
        /// When the step happens.
        package enum Time: Sendable, Hashable {
            case at(Date)
            /// A number of seconds after the previous step.
            case after(TimeInterval)
        }

        package let time: Time
        /// The events, in the order of the file.
        package let events: [Event]

        /// Returns the time of this step. `now` is the store's time before the step.
        fileprivate func date(after now: Date) -> Date {
            switch time {
            case .at(let date): date
            case .after(let seconds): now.addingTimeInterval(seconds)
            }
        }
    }

    /// One event of a step.
    package enum Event: Sendable {
        /// An operation of the local App Store, with its file, line and column.
        case operation(AppStoreOperation, position: String)
        /// The service fetches every notification that it may have missed.
        case catchUp
        /// The service must decide as expected.
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
        /// The expectation's file, line and column, such as `scenario.yaml:12:7`.
        package let position: String
    }

    /// Performs the scenario's operations in a store. Throws a `ScenarioFailure` with the position in the file if an
    /// operation isn't possible.
    ///
    /// - Parameter handle: handles an event that isn't an operation. By default, these events are ignored.
    package func perform(in store: LocalAppStore, _ handle: (Event) async throws -> Void = { _ in }) async throws {
        for customer in customers {
            var parameters: [AppStoreOperation.Parameter: String] = [
                .customer: customer.name, .storefront: customer.storefront,
            ]
            parameters[.family] = customer.family
            try await store.perform(AppStoreOperation(.customer, parameters))
        }
        for step in timeline {
            try await store.perform(AppStoreOperation(.advance, [.to: step.date(after: store.state.now).rfc3339]))
            for event in step.events {
                guard case .operation(let operation, let position) = event else {
                    try await handle(event)
                    continue
                }
                do {
                    try await store.perform(operation)
                } catch {
                    throw ScenarioFailure(position: position, detail: "\(error)")
                }
            }
        }
    }
}

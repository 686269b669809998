import Foundation
import TenureCore

extension Tenure {
    /// Asks the App Store for everything the customer has, on their tap: the only call that may show a sign-in.
    ///
    /// Throws `cancelled` where they closed it, and `store` where the App Store did not do it. What was known stays known.
    @discardableResult
    public func restore() async throws(TenureError) -> Customer {
        try await engine.restore()
        return board.customer
    }

    /// The app has unpacked, or no longer needs, what a purchase brings; see `Options.Finishing.afterContent`.
    public func contentArrived(for productID: String) async {
        await engine.contentArrived(for: productID)
    }
}

extension Engine {
    func restore() async throws(TenureError) {
        do throws(HostLimit) {
            try setup.host.checkMayPrompt()
        } catch {
            throw .notHere("\(error)")
        }
        let distribution = setup.access.distribution
        guard distribution.hasPurchases else { throw .store(distribution.whyNotAsked) }
        // Without deadlines: people take their time.
        try await prompt { access in try await access.synchronize() }
        await searchAnew(asksService: true)
        guard reading.appTransaction == nil, distribution.hasAppTransaction else { return }
        let result = try await prompt { access in try await access.refreshAppTransaction() }
        take(.success(result))
        post()
        await searchAnew(asksService: true)
    }

    private func prompt<Value: Sendable>(
        _ call: (any StoreAccess) async throws -> Value
    ) async throws(TenureError) -> Value {
        do {
            return try await call(setup.access)
        } catch let error as TenureError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .store("\(error)")
        }
    }
}

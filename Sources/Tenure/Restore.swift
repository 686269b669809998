import Foundation
import TenureCore

extension Tenure {
    /// The result of `restore()`: the sign-in, and the customer after StoreKit was read again.
    public struct RestoreResult: Sendable, Hashable {
        /// The result of the sign-in.
        public enum SignIn: Sendable, Hashable {
            /// The customer signed in.
            case succeeded
            /// The customer closed the sign-in.
            case canceled
            /// The App Store reported an error.
            case failed(String)
            /// The customer hasn't signed in yet. The sign-in stays open, and its result still counts: see `updates`.
            case waiting
            /// This process must not ask for a sign-in: an extension, or a copy from outside the App Store.
            case notAllowed(String)
        }

        /// How the sign-in ended. A failed one doesn't take anything away.
        public let signIn: SignIn
        /// The customer after StoreKit was read again, which also happens if the sign-in was canceled.
        public let customer: Customer
    }

    /// Asks the App Store for everything the customer has. Call it only from a button such as Restore Purchases: it's the
    /// only call that may show a sign-in.
    ///
    /// It never throws, and takes nothing away. It waits for `Options.restoreTimeout` at most.
    @discardableResult
    public func restore() async -> RestoreResult {
        let signIn = await engine.restore()
        return RestoreResult(signIn: signIn, customer: state.customer)
    }
}

extension Engine {
    func restore() async -> Tenure.RestoreResult.SignIn {
        load()
        do throws(HostLimit) {
            try setup.host.checkMayPrompt()
        } catch {
            await searchAgain()
            return .notAllowed("\(error)")
        }
        guard device.facts.distribution.hasPurchases else {
            await searchAgain()
            return .notAllowed(device.facts.distribution.whyNotAsked)
        }
        // A second tap doesn't open a second sign-in.
        let task = restoring ?? Task { await self.signIn() }
        restoring = task
        if let result = await value(of: task, within: setup.options.restoreTimeout) { return result }
        // The sign-in goes on. Meanwhile the store may have news without it.
        _ = await value(of: Task { await searchAgain() }, within: setup.recheckTimeout)
        return .waiting
    }

    /// Has no timeout: people take their time to type a password.
    private func signIn() async -> Tenure.RestoreResult.SignIn {
        let access = setup.access
        let signIn = await outcome { try await access.synchronize() }
        await searchAgain()
        if case .succeeded = signIn, device.snapshot.appTransaction == nil, device.asksForAppTransaction {
            let refreshed = await outcome { self.appStore.take(.success(try await access.refreshAppTransaction())) }
            if case .succeeded = refreshed {
                device.post()
                await searchAgain()
            }
        }
        restoring = nil
        return signIn
    }

    private func outcome(_ call: () async throws -> Void) async -> Tenure.RestoreResult.SignIn {
        do {
            try await call()
            return .succeeded
        } catch is SignInCanceled {
            return .canceled
        } catch is CancellationError {
            return .canceled
        } catch {
            return .failed("\(error)")
        }
    }
}

/// The customer closed the sign-in.
struct SignInCanceled: Error {
    init() {}
}

extension Tenure {
    /// The result of `restore()`: the sign-in, and the customer after StoreKit was read again.
    public struct RestoreResult: Sendable, Hashable {
        /// How the sign-in that `restore()` requested ended.
        public enum SignIn: Sendable, Hashable {
            /// The customer signed in.
            case succeeded
            /// The customer closed the sign-in.
            case canceled
            /// The App Store reported an error.
            case failed(String)
            /// The sign-in, or asking the App Store and the service after it, hasn't ended within
            /// `Options.restoreTimeout`. Both continue, and `updates` yields any change.
            case waiting
            /// This process may not show a sign-in, for this reason: for example, it is an extension, or the copy of
            /// the app isn't from the App Store.
            case notAllowed(String)
        }

        /// How the sign-in ended. A failed sign-in removes no entitlement.
        public let signIn: SignIn
        /// The customer after StoreKit was read again, which also happens if the sign-in was canceled.
        public let customer: Customer
    }

    /// Asks the App Store for everything the customer has.
    ///
    /// Call it only from a button such as Restore Purchases. In a copy from the App Store, no other call shows a
    /// sign-in, apart from a purchase. The call never throws. A sign-in that fails or is canceled removes no
    /// entitlement.
    ///
    /// The call waits for the sign-in, and then for the App Store and the service to answer: at most
    /// `Options.restoreTimeout` in all. After this time, the call asks the App Store and the service once more, for up
    /// to 2 seconds. If no sign-in is allowed, it waits until both were asked again.
    @discardableResult public func restore() async -> RestoreResult {
        let signIn = await engine.restore()
        return RestoreResult(signIn: signIn, customer: state.customer)
    }
}

extension Engine {
    /// Asks the customer to sign in, and reads the App Store again. Reads it even if this process may not show a
    /// sign-in. Returns how the sign-in ended.
    func restore() async -> Tenure.RestoreResult.SignIn {
        load()
        let distribution = device.facts.distribution
        let refusal =
            setup.host.limit(on: .restore)?.description
            ?? (distribution.hasPurchases ? nil : distribution.whyStoreKitIsNotCalled)
        if let refusal {
            await searchAgain()
            return .notAllowed(refusal)
        }
        // If a sign-in is already open, wait for that sign-in.
        let task = runningSignIn ?? Task { await self.signIn() }
        runningSignIn = task
        if let result = await value(of: task, within: setup.options.restoreTimeout) { return result }
        // The sign-in stays open. Read the App Store anyway: there may be new purchases.
        _ = await value(of: Task { await searchAgain() }, within: setup.recheckTimeout)
        return .waiting
    }

    /// Shows a sign-in, and then reads the App Store again. The sign-in has no timeout, because typing a password can
    /// take long.
    private func signIn() async -> Tenure.RestoreResult.SignIn {
        let access = setup.access
        let signIn = await signInOutcome { try await access.synchronize() }
        await searchAgain()
        // If the app transaction is still missing or out of date, only a refresh, which may show a sign-in, gets it.
        if case .succeeded = signIn, device.snapshot.appTransaction == nil, device.mayReadAppTransaction {
            let refreshed = await signInOutcome {
                self.appStore.addAppTransaction(.success(try await access.refreshAppTransaction()))
            }
            if case .succeeded = refreshed {
                device.post()
                await searchAgain()
            }
        }
        runningSignIn = nil
        return signIn
    }

    /// Makes a call that may show a sign-in. Returns how the sign-in ended.
    private func signInOutcome(_ call: () async throws -> Void) async -> Tenure.RestoreResult.SignIn {
        do {
            try await call()
            return .succeeded
        } catch is SignInCanceled, is CancellationError {
            return .canceled
        } catch {
            return .failed("\(error)")
        }
    }
}

/// The error that `AppStoreAccess` throws if the customer closed the sign-in.
struct SignInCanceled: Error {}

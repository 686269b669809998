import Foundation

/// Determines what the customer may use. A *search* reads the App Store, decides or asks the service, stores the
/// result, and publishes it.
///
/// One search runs at a time. Callers that request a search meanwhile wait for the running search.
actor Engine {
    let setup: Setup
    let customerState: CustomerState
    let device: DeviceState
    let appStore: AppStoreReader
    let service: ServiceSync
    let finisher: PurchaseFinisher

    /// The source of newer signed policies. Nil if the app's policy isn't updated from a web server.
    let feed: SignedPolicyFeed?
    /// The time when `feed` was last asked. Nil to ask at the next search.
    var policyRequestedAt: Date?
    var backoff = Backoff()
    /// The wait of `run()` for its next search. Nil while `run()` searches.
    var sleepTask: Task<Void, any Error>?
    /// A search that includes recently recorded transactions. Nil if none is running or planned.
    var pendingSearch: Task<Void, Never>?
    /// Whether `pendingSearch` must search again, because there are newer transactions.
    var isSearchWanted = false
    /// The current request for the service's products. Nil if none is running.
    var productsTask: Task<Void, Never>?
    /// The sign-in that the system is showing. Nil if none is shown.
    var runningSignIn: Task<Tenure.RestoreResult.SignIn, Never>?
    /// The search that is running. Nil if none is.
    private var runningSearch: Task<Void, Never>?

    /// Creates an engine that has read nothing yet. Never blocks, because apps create it on the main thread.
    init(_ setup: Setup, policy: Result<Tenure.LoadedPolicy?, Tenure.Error>) {
        self.setup = setup
        let device = DeviceState(setup, policy: policy.map { $0?.policy })
        customerState = device.customerState
        self.device = device
        appStore = AppStoreReader(device)
        service = ServiceSync(device)
        finisher = PurchaseFinisher(device)
        feed = (try? policy.get())?.feed
    }

    /// Reads how the app was installed, which device this is, and the stored state. Does nothing the second time.
    func load() { device.load() }

    // MARK: Searching

    /// Whether a search is running or has finished.
    var hasBegunSearch: Bool { runningSearch != nil || device.facts.hasFinishedSearch }

    /// Reads all sources that need no sign-in. If a search is running, waits for that search.
    func search() async {
        if let runningSearch { return await runningSearch.value }
        let search = Task { await readAllSources() }
        runningSearch = search
        await search.value
    }

    /// Searches if a right has ended, because a subscription may have been renewed, or waits for the first search. If a
    /// search is already running, it may have read the purchases before the end. Then one more search follows.
    func search(afterEndOf right: String) async {
        for _ in 1...2 {
            switch customerState.access(to: right) {
            case .ended, .resolving: await search()
            case .yes, .no, .stale: return
            }
        }
    }

    /// Waits for the running search, if there is one.
    func waitForRunningSearch() async { await runningSearch?.value }

    /// Waits for a search that begins after this call and that asks the service in any case.
    func searchAgain() async {
        if let runningSearch { await runningSearch.value }
        if setup.service != nil { service.isWanted = true }
        await search()
        // Another caller may have begun this search before `isWanted` was set. If it didn't ask the service, search
        // again.
        if service.isWanted { await search() }
    }

    /// Searches again because of a denial, at most once in ten seconds.
    func recheck() async {
        if runningSearch == nil, let checkedAt = device.facts.checkedAt,
            abs(setup.clock().timeIntervalSince(checkedAt)) < Self.minimumRecheckInterval
        {
            return
        }
        await search()
    }

    /// The time in seconds for which `recheck` doesn't search again.
    private static let minimumRecheckInterval: TimeInterval = 10

    /// Reads every source again, except a source that would show a sign-in. Asks the service and the policy's server
    /// even if their next request isn't due yet.
    func refresh() async {
        load()
        policyRequestedAt = nil
        service.areProductsWanted = true
        await searchAgain()
    }

    /// Runs one search. It publishes the answers after each source, and stores the result at the end.
    private func readAllSources() async {
        load()
        customerState.beginSearch()
        device.rereadState()
        device.observeClock()
        device.searchFloor = device.stored.time.floor
        // The stored policy may be newer than the bundled policy.
        if let feed, !device.facts.hasFinishedSearch { device.facts.policy = await feed.restore() }
        // If the app has no policy, get the product IDs from the service. Only with product IDs does an empty list of
        // purchases differ from an App Store that doesn't respond.
        let asksForProductsFirst = device.productIDs.isEmpty
        if asksForProductsFirst { await refreshProducts() }
        // Make these calls concurrently, so that their timeouts don't add up.
        async let policyRefresh: Void = refreshPolicy()
        async let productsRefresh: Void = asksForProductsFirst ? () : refreshProducts()
        let products = device.productIDsToRequest
        let (mayReadApp, hasPurchases) = (device.mayReadAppTransaction, device.facts.distribution.hasPurchases)
        async let app = setup.callAppStore(if: mayReadApp) { try await $0.appTransaction() }
        async let listed = setup.callAppStore(if: hasPurchases) { try await $0.transactions(productIDs: products) }
        // If the app transaction belongs to another account than the stored account, compare it with the purchases:
        // StoreKit may still return the app transaction of an account that was signed in before.
        let answer = await app
        if !appStore.isOfAnotherAccount(answer) {
            appStore.addAppTransaction(answer)
            device.post()
        }
        let purchases = await listed
        if appStore.isOfAnotherAccount(answer) {
            appStore.addAppTransaction(answer, comparedWith: purchases, requestedProducts: products)
        }
        await appStore.addTransactions(purchases, requestedProducts: products)
        device.post()
        if setup.service != nil { await service.askService() }
        await policyRefresh
        await productsRefresh
        // The refreshed policy may list the first products.
        if products.isEmpty, device.snapshot.transactions?.isEmpty == true, !device.productIDsToRequest.isEmpty {
            appStore.noteUncheckedPurchases()
        }
        device.facts.checkedAt = setup.clock()
        device.facts.finishedSearches += 1
        device.storeOutcomes()
        device.stored.copyTrialsToBestName()
        device.save()
        if device.snapshot.shouldReadAgain {
            backoff.fail()
            sleepTask?.cancel()
        } else {
            backoff.succeed()
        }
        // From here on, a caller of `search()` gets a new search.
        runningSearch = nil
        device.post()
        await finisher.finishRecorded(isStoreResponding: device.snapshot.transactions != nil)
    }

    // MARK: When searches begin

    /// Searches repeatedly, with waits in between, until its task is canceled.
    func run() async {
        load()
        while !Task.isCancelled {
            await search()
            // Another search may run during this wait. If it fails, it cancels `sleepTask`, and this loop begins a new
            // wait, computed with the new `backoff`.
            while !Task.isCancelled {
                let wait = wait
                let sleeping = Task { try await setup.sleep(wait) }
                sleepTask = sleeping
                let result = await withTaskCancellationHandler {
                    await sleeping.result
                } onCancel: {
                    sleeping.cancel()
                }
                if case .success = result { break }
            }
            sleepTask = nil
        }
    }

    /// Lets callers stop waiting for the first search after `resolvingTimeout`.
    nonisolated func limitResolving() async {
        guard (try? await Task.sleep(nanoseconds: UInt64(setup.resolvingTimeout * 1e9))) != nil else { return }
        customerState.endResolving()
    }

    /// Searches again after events, until its task is canceled.
    ///
    /// - When the app becomes active or the network returns: if an entitlement isn't granted, or the service hasn't
    ///   answered about a purchase yet. At most once in ten seconds.
    /// - When the keychain is unlocked: if the state couldn't be read before.
    func observeEvents() async {
        for await event in setup.events() {
            switch event {
            case .keychainUnlocked: if device.state.isUnreadable { await searchAgain() }
            case .appEnteredBackground: break
            case .appBecameActive, .networkReturned: if lacksEntitlement || hasUnansweredPurchase { await recheck() }
            }
        }
    }

    /// Whether an entitlement isn't granted to the customer, or nothing was decided yet.
    private var lacksEntitlement: Bool {
        let answers = device.evaluation().answers
        return answers.isEmpty || answers.values.contains { $0.outcome != .granted }
    }

    /// Whether there is a purchase that the service hasn't answered about yet.
    private var hasUnansweredPurchase: Bool { setup.service != nil && !service.unanswered.isEmpty }

    /// The seconds until the next search.
    ///
    /// - After a failure: the wait of `backoff`, which grows with each failure, and no less than the service asked for.
    /// - If a right has an end: until that end, but 15 minutes at most, because each search also stores the time.
    /// - Otherwise a day; or an hour if a service decides and an entitlement isn't granted. A client that only sends
    ///   what the App Store signed to the service (`Tenure.listening`) waits for a day.
    ///
    /// Without a failure, the wait is no longer than the service asked for.
    var wait: Double {
        if backoff.failures > 0 { return max(backoff.wait(chance: setup.chance()), service.retryWait ?? 0) }
        let now = device.stored.time.now(setup.clock())
        let ends = device.evaluation().answers.values.compactMap { $0.outcome == .granted ? $0.until : nil }
        let next = ends.filter { $0 > now }.min().map { $0.timeIntervalSince(now) + 1 }
        let longest = setup.service != nil && !setup.isListening && lacksEntitlement ? 3600 : Self.maximumWait
        let wait = next.map { min($0, Self.clockSaveInterval) } ?? longest
        return service.retryWait.map { min($0, wait) } ?? wait
    }

    /// The longest wait, in seconds: a day.
    private static let maximumWait: Double = 86_400
    /// How often the time is stored while there is a right with an end, in seconds. If the clock is set back between
    /// two starts, the right is extended by no more than this interval.
    private static let clockSaveInterval: Double = 900
}

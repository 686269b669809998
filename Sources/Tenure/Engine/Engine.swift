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
}

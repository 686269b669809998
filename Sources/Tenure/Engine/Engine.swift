import Foundation
import TenureCore

/// Finds out what the customer has: reads the App Store, decides or asks the service, stores what was proved, and
/// publishes it.
///
/// One search runs at a time. Callers that ask meanwhile wait for it.
actor Engine {
    let setup: Setup
    let customerState: CustomerState
    let device: DeviceState
    let appStore: AppStoreReader
    let service: ServiceSync
    let finisher: PurchaseFinisher

    /// Where a newer policy comes from.
    let feed: SignedPolicyFeed?
    var policyAskedAt: Date?
    var backoff = Backoff()
    /// The wait of `run()` for its next search.
    var sleeper: Task<Void, any Error>?
    /// The search for transactions that were recorded meanwhile, and whether it has to start again.
    var pendingSearch: Task<Void, Never>?
    var isSearchWanted = false
    /// The request for the service's products that is under way.
    var productsTask: Task<Void, Never>?
    /// The sign-in that is open.
    var restoring: Task<Tenure.RestoreResult.SignIn, Never>?
    private var running: Task<Void, Never>?

    /// Reads nothing and never blocks: apps call it on the main thread.
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

    /// The stored state as this process knows it.
    var memory: StoredState { device.memory }

    // MARK: Searching

    /// Asks all sources that need no prompt, and waits for them.
    func search() async {
        if let running { return await running.value }
        let search = Task { await readAllSources() }
        running = search
        await search.value
    }

    /// Waits for the search that is running.
    func searchIsOver() async { await running?.value }

    /// Waits for a search that began after this call. The service is asked even if it isn't due.
    func searchAgain() async {
        if setup.service != nil { service.isWanted = true }
        if let running { await running.value }
        await search()
        // Another one may have begun before this call asked for the service.
        if service.isWanted { await search() }
    }

    /// Checks a denial again: at most once in ten seconds.
    func recheck() async {
        if running == nil, let checkedAt = device.facts.checkedAt,
            abs(setup.clock().timeIntervalSince(checkedAt)) < Self.shortestRecheck
        {
            return
        }
        await search()
    }

    private static let shortestRecheck: TimeInterval = 10

    /// Asks all sources that need no prompt again, even those that aren't due.
    func refresh() async {
        load()
        policyAskedAt = nil
        service.areProductsWanted = true
        await searchAgain()
    }

    private func readAllSources() async {
        load()
        device.rereadState()
        device.look()
        device.searchFloor = device.memory.time.floor
        // The stored policy may be newer than the bundled one.
        if let feed, !device.facts.isSearched { device.facts.policy = await feed.restore() }
        // If the app brings no policy, the service says which products there are. An empty list of purchases is probed
        // with them.
        let asksForProductsFirst = device.productIDs.isEmpty
        if asksForProductsFirst { await refreshProducts() }
        // Concurrently, so that none waits for the timeout of another.
        async let policyNews: Void = refreshPolicy()
        async let productNews: Void = asksForProductsFirst ? () : refreshProducts()
        let products = device.productIDs
        let (asksForApp, hasPurchases) = (device.asksForAppTransaction, device.facts.distribution.hasPurchases)
        async let app = setup.attempt(asksForApp) { try await $0.appTransaction() }
        async let listed = setup.attempt(hasPurchases) { try await $0.transactions(productIDs: products) }
        // The app transaction of another account than before may be one that StoreKit hasn't replaced yet.
        let answer = await app
        if !appStore.isOfAnotherAccount(answer) {
            appStore.take(answer)
            device.post()
        }
        let purchases = await listed
        if appStore.isOfAnotherAccount(answer) { appStore.take(answer, unlessPurchasesAreOf: purchases) }
        await appStore.take(purchases)
        device.post()
        if setup.service != nil { await service.askService() }
        await policyNews
        await productNews
        device.facts.isSearched = true
        device.facts.checkedAt = setup.clock()
        device.noteOutcomes()
        device.memory.joinTrials()
        device.save()
        if device.snapshot.failed {
            backoff.fail()
            sleeper?.cancel()
        } else {
            backoff.succeed()
        }
        // Callers go on here, and one that asks again wants a new search.
        running = nil
        device.post()
        await finisher.finishRecorded(isStoreResponding: device.snapshot.transactions != nil)
    }
}

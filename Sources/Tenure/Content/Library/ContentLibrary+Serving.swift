import TenureContent

/// Chooses the next download, runs it, and handles its result.
///
/// One download runs at a time. The app requested `maps` and then `voices`, for example: `schedule` starts `maps`. When
/// its connection breaks, `finish` lets `maps` wait for some seconds, and `schedule` starts `voices` meanwhile. Every
/// change of what is known, such as a new request or another network, ends with a call of `schedule`.
extension ContentLibrary {
    // MARK: Which downloads may run

    /// Returns the version to download: the version with which the download began, or the newest version that the app
    /// can use. Nil if there is no such version.
    func target(of name: String) -> (pack: ContentCatalog.Pack, version: ContentCatalog.Version)? {
        if let runningDownload, runningDownload.pack == name,
            let pack = catalogs.pack(name) ?? plans[name]?.description.pack
        {
            return (pack, runningDownload.version)
        }
        if let plan = plans[name]?.description, let version = plan.version, let begun = plan.pack {
            return (catalogs.pack(name) ?? begun, version)
        }
        guard let pack = catalogs.pack(name), let version = pack.version(for: setup.appVersion) else { return nil }
        return (pack, version)
    }

    /// The bytes that the download still has to transfer. Returns the archive's size until the missing bytes are known.
    private func missingBytes(of request: PackRequest) -> Int64 {
        guard let (_, version) = target(of: request.pack) else { return 0 }
        return missingBytesByPack[request.pack] ?? version.archiveSize
    }

    /// Whether all requested downloads that aren't paused together transfer more than `Options.expensiveNetworkLimit`.
    var isAboveLimit: Bool {
        requests.lazy.filter { !$0.isPaused }.reduce(0) { $0 + missingBytes(of: $1) }
            > setup.options.expensiveNetworkLimit
    }

    /// Whether the app must call `allowExpensiveNetwork()` before this download may use the current network.
    private func needsConsent(_ request: PackRequest) -> Bool {
        guard let network, !request.allowsExpensiveNetwork else { return false }
        return network.isConstrained || (network.isExpensive && isAboveLimit)
    }

    /// Whether a download can run now.
    func isReady(_ request: PackRequest) -> Bool { isWanted(request) && waits[request.pack] == nil }

    /// Whether a download should run as soon as network and space are available. If it waits only for a call of
    /// `allowExpensiveNetwork()`, also records this wait.
    func isWanted(_ request: PackRequest) -> Bool {
        let pack = request.pack
        guard !request.isPaused, failures[pack] == nil, target(of: pack) != nil, isAllowed(pack) else { return false }
        if needsConsent(request) {
            waits[pack] = .consent
            return false
        }
        if waits[pack] == .consent { waits[pack] = nil }
        return true
    }

    // MARK: Serving requests

    /// Stops a running download that may not continue, and starts the next download.
    func schedule() {
        load()
        takeDelivered()
        followRights()
        dropCompleteRequests()
        defer { publish() }
        // A download runs: let it continue or stop it.
        if let runningDownload {
            // If the system can download for the app, a download ends when the app enters or leaves the foreground. The
            // task's `finish` then calls `schedule` again.
            guard let request = requests.first(where: { $0.pack == runningDownload.pack }), isReady(request),
                runningDownload.isInForeground == isInForeground
                    || (runningDownload.isInForeground && background == nil)
            else {
                runningDownload.task.cancel()
                return
            }
            return
        }
        // No download runs: choose the first request that can run. In the background, only what the system has
        // delivered is installed.
        guard
            let request = requests.first(where: {
                (isInForeground || delivered.contains($0.pack)) && !isHandedOver($0.pack) && isReady($0)
            }), let (pack, version) = target(of: request.pack),
            let source = catalogs.source(of: pack.name, begunWith: plans[pack.name]?.description.source)
        else { return }
        // The app and its extensions are several processes. Only the process with the lease downloads.
        do {
            guard try lease.acquire(for: pack.name) else { return waitForOther() }
        } catch DiskFailure.full {
            return suspend(pack.name, .space(missing: PackTransfer.minimumFreeSpace), seconds: 10)
        } catch {
            setup.options.log.error("the download of `\(pack.name)` can't begin, and is tried again: \(error)")
            return suspend(pack.name, .network, seconds: 2)
        }
        otherDownload = nil
        delivered.remove(pack.name)
        start(request, pack, version, from: source)
    }

    /// Removes requests for a version that is installed already, such as after a catalog was rolled back.
    private func dropCompleteRequests() {
        for pack in requests.map(\.pack) where isComplete(pack) {
            // Another process may have requested the same version because files are missing.
            reload(pack)
            if isComplete(pack) { update { $0.removeAll { $0.pack == pack } } }
        }
    }

    /// Whether the version that a download would install is already in use.
    private func isComplete(_ pack: String) -> Bool {
        guard runningDownload?.pack != pack, let target = target(of: pack) else { return false }
        return packInUse(pack)?.version == target.version.manifest
    }

    /// Whether this process can't use background downloads, and the system downloads the pack for another process.
    private func isHandedOver(_ pack: String) -> Bool {
        background == nil && BackgroundTransfers.packs(in: store).contains(pack)
    }

    /// Starts a download. Its task reports the progress, and calls `finish` when it ends.
    private func start(
        _ request: PackRequest, _ pack: ContentCatalog.Pack, _ version: ContentCatalog.Version,
        from source: any Tenure.ContentSource
    ) {
        let (events, continuation) = AsyncStream<PackTransfer.Event>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let transfer = transfer(request, pack, version, from: source, isInForeground: isInForeground) {
            continuation.yield($0)
        }
        rate = TransferRate()
        // Three tasks: one renews the lease (see `TransferLease`), one downloads, and one passes the events and the
        // result to this actor.
        let renewing = Task { [weak self] in
            while (try? await Task.sleep(nanoseconds: UInt64(TransferLease.renewalInterval * 1e9))) != nil {
                guard let self else { return }
                await self.renewLease()
            }
        }
        let task = Task { [weak self] in
            let work = Task.detached {
                defer { continuation.finish() }
                do {
                    try await transfer.run()
                    return Result<Void, any Error>.success(())
                } catch {
                    return .failure(error)
                }
            }
            let result = await withTaskCancellationHandler {
                for await event in events { await self?.note(event, of: pack.name) }
                return await work.value
            } onCancel: {
                work.cancel()
            }
            renewing.cancel()
            transfer.lease.release()
            await self?.finish(pack.name, version, result)
        }
        runningDownload = RunningDownload(pack: pack.name, version: version, task: task, isInForeground: isInForeground)
    }

    /// Creates the download of a version.
    func transfer(
        _ request: PackRequest, _ pack: ContentCatalog.Pack, _ version: ContentCatalog.Version,
        from source: any Tenure.ContentSource, isInForeground: Bool,
        report: @escaping @Sendable (PackTransfer.Event) -> Void
    ) -> PackTransfer {
        PackTransfer(
            pack: pack, version: version, source: source, store: store, embedded: catalogs.embedded(pack.name),
            timeout: setup.stallTimeout, allowsExpensiveNetwork: request.allowsExpensiveNetwork || !isAboveLimit,
            allowsConstrainedNetwork: request.allowsExpensiveNetwork, isInForeground: isInForeground,
            background: background, lease: lease, freeSpace: setup.freeSpace, report: report)
    }

    /// Publishes the state of the running download after an event.
    private func note(_ event: PackTransfer.Event, of pack: String) {
        guard runningDownload?.pack == pack else { return }
        switch event {
        case .installing: phase = .installing
        case .progress(let bytes, let total):
            // After a failure, the state stays `waiting` until bytes arrive again.
            if backoffs[pack] == nil || bytes > progress[pack]?.bytes ?? -1 { phase = downloading(pack, bytes, total) }
        }
        contentStates.post(state(of: pack), of: pack)
    }

    /// Records the progress of a download, and returns it as a state. The progress never decreases.
    func downloading(_ pack: String, _ bytes: Int64, _ total: Int64) -> State {
        let best = min(total, max(bytes, progress[pack]?.bytes ?? 0))
        rate.note(best)
        let now = Tenure.AssetPack.Progress(bytes: best, total: total, bytesPerSecond: rate.bytesPerSecond)
        progress[pack] = now
        return .downloading(now)
    }

    /// Keeps other processes from downloading, and tells them the progress.
    private func renewLease() {
        guard let runningDownload else { return }
        let phase = phase
        do {
            try lease.renew { holder in
                if case .downloading(let progress) = phase {
                    (holder.bytes, holder.total) = (progress.bytes, progress.total)
                }
                holder.isInstalling = phase == .installing
            }
        } catch is TransferLease.Lost {
            runningDownload.task.cancel()
        } catch {
            // The task that renews the lease tries again in a second.
        }
    }

    /// Handles the result of a download: removes the request, tries again later, or records the failure.
    private func finish(_ pack: String, _ version: ContentCatalog.Version, _ result: Result<Void, any Error>) async {
        runningDownload = nil
        phase = nil
        reload(pack)
        switch result {
        case .success:
            // If another process requested the pack after the installation, it wants an update. Keep its request.
            update { $0.removeAll { $0.pack == pack && $0.installed != version.manifest.description } }
            (backoffs[pack], progress[pack]) = (nil, nil)
            store.removeOldVersions(of: pack)
            let source = catalogs.source(of: pack, begunWith: installed[pack]?.description.source)
            await source?.remove(pack)
            await finishPurchases()
        // Ignore the failure of a download that was stopped: the current request may be newer.
        case .failure where Task.isCancelled: break
        // Try again later, while other packs are downloaded.
        case .failure(TransferStop.network(let retryAfter, let madeProgress)):
            // If the connection transferred bytes before it failed, try again soon. Otherwise wait for a quarter of the
            // usual delay, and at most a minute.
            if madeProgress { backoffs[pack] = nil } else { backoffs[pack, default: Backoff()].fail() }
            let wait = backoffs[pack].map { $0.wait(chance: setup.chance()) / 4 } ?? 0.1
            suspend(pack, .network, seconds: max(min(wait, 60), retryAfter ?? 0))
        case .failure(TransferStop.space(let missing)): suspend(pack, .space(missing: missing), seconds: 10)
        // The source no longer has this version, or its server rejected the link.
        case .failure(TransferStop.gone): await replace(version, of: pack)
        case .failure(TransferStop.refused): await noteRefusal(of: pack)
        // Trying again wouldn't help.
        case .failure(TransferStop.failed(let error)): fail(pack, error)
        case .failure(TransferStop.inBackground), .failure(is TransferLease.Lost), .failure(is CancellationError): break
        case .failure(let error): failures[pack] = .storage("\(error)")
        }
        schedule()
    }

    /// Records that a download failed. If the right has ended meanwhile, records nothing: the pack's state is
    /// `notEntitled`.
    private func fail(_ pack: String, _ error: Tenure.AssetPackError) {
        if isAllowed(pack) { failures[pack] = error }
    }

    /// Asks the service for new answers after a server rejected a link: the service may know of a refund.
    private func noteRefusal(of pack: String) async {
        // Suspend this pack until the service has answered. Other packs don't wait.
        waits[pack] = .network
        schedule()
        await engine.searchAgain()
        guard waits[pack] == .network, runningDownload?.pack != pack else { return }
        waits[pack] = nil
        fail(pack, .refused(pack))
    }

    /// Switches to the newest version, because the source no longer has the version that is being downloaded. Files
    /// that both versions have aren't downloaded again.
    private func replace(_ version: ContentCatalog.Version, of pack: String) async {
        // Suspend the pack until the sources have listed their catalogs.
        waits[pack] = .network
        await refreshCatalogs()
        guard waits[pack] == .network, runningDownload?.pack != pack else { return }
        waits[pack] = nil
        let newest = catalogs.pack(pack)?.version(for: setup.appVersion)
        if let newest, newest.manifest != version.manifest {
            try? PartialPack.setAside(in: store.folder(of: pack))
            progress[pack] = nil
            return reload(pack)
        }
        backoffs[pack, default: Backoff()].fail()
        suspend(pack, .network, seconds: backoffs[pack]?.wait(chance: setup.chance()) ?? 1)
    }

    /// Lets a pack wait for some seconds. Meanwhile, other packs are downloaded.
    func suspend(_ pack: String, _ wait: Tenure.AssetPack.Wait, seconds: Double) {
        waits[pack] = wait
        Task { [weak self] in
            try? await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
            await self?.endWait(of: pack, wait)
        }
    }

    /// Ends a wait that `suspend` began, unless the pack waits for something else by now.
    private func endWait(of pack: String, _ wait: Tenure.AssetPack.Wait) {
        guard waits[pack] == wait else { return }
        waits[pack] = nil
        schedule()
    }
}

/// The app and its extensions share packs and requests. Only one of their processes downloads at a time.
extension ContentLibrary {
    /// Follows the changes of other processes, until its task is canceled.
    func followOtherProcesses() async {
        // Without one of these three settings, no other process can use the same folder.
        let options = setup.options
        guard options.accessGroup != nil || options.folder != nil || setup.contentLocation != nil else { return }
        while !Task.isCancelled {
            let isBusy = !requests.isEmpty
            guard (try? await Task.sleep(nanoseconds: isBusy ? 500_000_000 : 2_000_000_000)) != nil else { return }
            await checkOtherProcesses()
        }
    }

    /// Adopts changes that other processes have made since the last check.
    private func checkOtherProcesses() async {
        let contents = sharedRequests.read()
        if contents.revision != revision {
            updateRequests(from: contents)
            for name in Set(store.names).union(installed.keys) { reload(name) }
            schedule()
            await finishPurchases()
        } else if otherDownload != nil {
            schedule()
        }
    }

    /// Shows the progress of another process's download, and checks again soon.
    func waitForOther() {
        let holder = lease.otherHolder
        if holder?.pack != otherDownload?.pack { rate = TransferRate() }
        otherDownload = holder
        guard !isWatchingOther else { return }
        isWatchingOther = true
        Task { [weak self] in
            try? await Task.sleep(nanoseconds: 250_000_000)
            await self?.endWaitForOther()
        }
    }

    private func endWaitForOther() async {
        isWatchingOther = false
        await checkOtherProcesses()
    }

    /// Returns the state of a pack that another process is downloading. Nil if no other process is.
    func stateElsewhere(of name: String) -> State? {
        guard let otherDownload, otherDownload.pack == name, runningDownload == nil else { return nil }
        return otherDownload.isInstalling ? .installing : downloading(name, otherDownload.bytes, otherDownload.total)
    }

    /// Waits until no other process writes a pack.
    func waitForOthers(writing pack: String) async {
        while let holder = lease.otherHolder, holder.pack == pack {
            guard (try? await Task.sleep(nanoseconds: 100_000_000)) != nil else { return }
        }
    }
}

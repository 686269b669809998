import CommandRunner
import Foundation
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct TransferLeaseTests {
    @Test
    func `if a process doesn't renew its lease on a download, another takes over and the first can't write anymore`()
        async throws
    {
        let folder = try Folder()
        let store = PackStore(location: ContentLocation(in: folder.url("device")))
        let (first, second) = (TransferLease(store: store), TransferLease(store: store))
        #expect(try first.acquire(for: "piano"))
        #expect(try !second.acquire(for: "piano"))
        for beat in 1...3 {
            try await Task.sleep(nanoseconds: 1_000_000_000)
            try first.renew { $0.bytes += 1 }
            #expect(second.otherHolder?.bytes == Int64(beat))
            #expect(first.otherHolder == nil)
        }
        let renewed = SuspendingClock.now
        for _ in 0..<300 where second.otherHolder != nil { try await Task.sleep(nanoseconds: 100_000_000) }
        #expect(SuspendingClock.now - renewed > .seconds(5), "a short pause doesn't lose it")
        #expect(try second.acquire(for: "piano"))
        #expect(first.otherHolder?.pack == "piano")
        #expect(throws: TransferLease.Lost.self) { try first.confirm() }
        #expect(throws: TransferLease.Lost.self) { try first.renew() }
        // Nor can it give up what the other has.
        first.release()
        #expect(try !TransferLease(store: store).acquire(for: "drums"))
        second.release()
        #expect(try first.acquire(for: "drums"))
    }

    @Test(arguments: [(999_999_999, true), (getpid(), true), (getppid(), false)] as [(Int32, Bool)])
    func `the lease of a process that has ended is free, even if this process has the ID of that process`(
        process: Int32, isFree: Bool
    ) throws {
        let folder = try Folder()
        let location = ContentLocation(in: folder.url("device"))
        try ContentLocation.make(location.durableFolder)
        let holder = TransferLease.Holder(id: "another", process: process, pack: "piano")
        try JSONEncoder().encode(holder).write(to: location.durableFolder.appendingPathComponent("transfer.json"))
        let lease = TransferLease(store: PackStore(location: location))
        #expect(lease.otherHolder == (isFree ? nil : holder))
        #expect(try lease.acquire(for: "drums") == isFree)
    }
}

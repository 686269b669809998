import Foundation

/// Sorts customers by their public IDs, byte by byte, in bounded memory.
///
/// A database can't sort them, because its order of letters depends on the locale of the machine. Long lists are sorted
/// in runs of `runLength` entries, each in a temporary file. Reading merges the runs.
final class SortedNames {
    /// A customer's public ID and row ID.
    struct Entry: Hashable {
        let name: String
        let number: Int64

        /// Compares bytes: Swift's `<` treats two spellings of a letter as equal.
        static func precedes(_ left: Entry, _ right: Entry) -> Bool {
            if left.name.utf8.elementsEqual(right.name.utf8) { return left.number < right.number }
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }

    private let runLength: Int
    /// The entries in memory, which are sorted before the first one is read.
    private var entriesInMemory: [Entry] = []
    private var runs: [SortedRun] = []
    /// Whether `entriesInMemory` is sorted.
    private var isSorted = false
    /// The index of the next entry in `entriesInMemory`.
    private var position = 0

    /// Creates an empty list. A run of the default length takes about 20 MB.
    init(runLength: Int = 200_000) {
        self.runLength = runLength
    }

    func add(_ entry: Entry) throws(StoreError) {
        entriesInMemory.append(entry)
        guard entriesInMemory.count == runLength else { return }
        entriesInMemory.sort(by: Entry.precedes)
        runs.append(try SortedRun(entriesInMemory))
        entriesInMemory.removeAll(keepingCapacity: true)
    }

    /// Returns the next entries in order, or none after the last. Entries can't be added anymore.
    func next(_ count: Int) throws(StoreError) -> [Entry] {
        if !isSorted {
            entriesInMemory.sort(by: Entry.precedes)
            isSorted = true
        }
        var entries: [Entry] = []
        while entries.count < count, let entry = try next() { entries.append(entry) }
        return entries
    }

    /// Returns the smallest of the next entries of all runs and of the entries in memory.
    private func next() throws(StoreError) -> Entry? {
        var least = position < entriesInMemory.count ? entriesInMemory[position] : nil
        var source: Int?
        for (index, run) in runs.enumerated() {
            guard let head = run.head, least.map({ Entry.precedes(head, $0) }) ?? true else { continue }
            least = head
            source = index
        }
        if let source { try runs[source].advance() } else { position += 1 }
        return least
    }
}

/// A sorted run in a temporary file, which is removed when the process ends.
private final class SortedRun {
    /// The next entry; nil after the last.
    private(set) var head: SortedNames.Entry?
    private let file: UnsafeMutablePointer<FILE>

    /// Writes sorted entries: the row ID, the length of the name, and the name.
    init(_ entries: [SortedNames.Entry]) throws(StoreError) {
        guard let file = tmpfile() else { throw Self.failure }
        self.file = file
        for entry in entries {
            let name = Array(entry.name.utf8)
            var numbers = [entry.number, Int64(name.count)]
            guard fwrite(&numbers, 8, 2, file) == 2, fwrite(name, 1, name.count, file) == name.count else {
                throw Self.failure
            }
        }
        guard fflush(file) == 0 else { throw Self.failure }
        rewind(file)
        try advance()
    }

    deinit { fclose(file) }

    /// Reads the next entry into `head`.
    func advance() throws(StoreError) {
        var numbers: [Int64] = [0, 0]
        guard fread(&numbers, 8, 2, file) == 2 else {
            head = nil
            return
        }
        var name = [UInt8](repeating: 0, count: Int(numbers[1]))
        guard fread(&name, 1, name.count, file) == name.count else { throw Self.failure }
        head = SortedNames.Entry(name: String(decoding: name, as: UTF8.self), number: numbers[0])
    }

    private static var failure: StoreError {
        errno == ENOSPC ? .full : .failed("customers can't be sorted in a temporary file; make room in /tmp")
    }
}

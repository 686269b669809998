import Foundation

/// The kinds of customers that a rehearsal has found so far, by the key of their plain facts (`PlainFacts`).
///
/// Customers with the same key are of one kind: they differ only in ways that can't change a decision. For example, Ada
/// and Ben each got build 37 on iOS in March 2014, and bought nothing. They differ only in their IDs, and in purchase
/// dates that the policies treat alike. So a rehearsal decides once for both. A million customers are of only a few
/// thousand kinds.
///
/// This is a hash table with open addressing over the keys' bytes. The table is used for every customer, and hashing
/// arrays in a `Dictionary` would take more time than all other work.
struct CustomerKinds: Sendable {
    /// What all customers with the same key have in common.
    struct Kind: Sendable {
        let customerEffects: CustomerEffects
        /// The platform, version and month by which the report counts these customers.
        let place: Place
    }

    /// The kinds in the order in which they were found.
    private(set) var all: [Kind] = []
    /// The hash of each key, in the order of `all`.
    private var hashes: [UInt64] = []
    /// The bytes of all keys, concatenated.
    private var keys: [UInt8] = []
    /// Where each key ends in `keys`.
    private var keyEnds: [Int] = []
    /// The slots of the hash table: indexes in `all`, or -1 for an empty slot. At least half of the slots are empty.
    private var slots: [Int32] = Array(repeating: -1, count: 1024)

    var count: Int { all.count }

    /// Returns the index of the kind with this key; nil if it wasn't found yet.
    func index(of key: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let index = Int(slots[slot])
            guard index >= 0 else { return nil }
            if hashes[index] == hash, isKey(key, at: index) { return index }
            slot = (slot + 1) & mask
        }
    }

    /// Whether the kind at this index has this key.
    private func isKey(_ key: UnsafeRawBufferPointer, at index: Int) -> Bool {
        let start = index == 0 ? 0 : keyEnds[index - 1]
        guard keyEnds[index] - start == key.count else { return false }
        return keys.withUnsafeBytes { keys in
            guard let left = keys.baseAddress, let right = key.baseAddress else { return key.isEmpty }
            return memcmp(left + start, right, key.count) == 0
        }
    }

    /// Adds a kind. No other kind may have its key.
    mutating func add(_ kind: Kind, as key: UnsafeRawBufferPointer, hash: UInt64) {
        if (all.count + 1) * 2 > slots.count { grow() }
        place(all.count, hash: hash)
        all.append(kind)
        hashes.append(hash)
        keys.append(contentsOf: key)
        keyEnds.append(keys.count)
    }

    /// Doubles the number of slots.
    private mutating func grow() {
        slots = Array(repeating: -1, count: slots.count * 2)
        for (index, hash) in hashes.enumerated() { place(index, hash: hash) }
    }

    /// Puts an index into the first empty slot for its hash.
    private mutating func place(_ index: Int, hash: UInt64) {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] >= 0 { slot = (slot + 1) & mask }
        slots[slot] = Int32(truncatingIfNeeded: index)
    }

    /// Passes each kind with its index, its key and the key's hash to `body`.
    func forEach(_ body: (Int, Kind, UnsafeRawBufferPointer, UInt64) -> Void) {
        keys.withUnsafeBytes { keys in
            var start = 0
            for index in all.indices {
                body(index, all[index], UnsafeRawBufferPointer(rebasing: keys[start..<keyEnds[index]]), hashes[index])
                start = keyEnds[index]
            }
        }
    }
}

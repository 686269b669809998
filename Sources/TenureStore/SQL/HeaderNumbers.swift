import Foundation

/// The numbers of the headers that were met last: of thousands of artifacts in a row nearly all have the same.
///
/// For a connection that writes alone; it forgets when something is taken back. In the hands of one caller at a time.
package final class HeaderNumbers {
    /// The last one met stands first.
    private var known: [(bytes: [UInt8], number: Int64)] = []

    /// One for each signer of the App Store in use, with room for what the local App Store signs.
    private static let most = 8

    package init() {}

    func number(of header: ArraySlice<UInt8>) -> Int64? {
        guard let index = known.firstIndex(where: { $0.bytes.isSame(as: header) }) else { return nil }
        if index > 0 { known.swapAt(0, index) }
        return known[0].number
    }

    func remember(_ header: ArraySlice<UInt8>, as number: Int64) {
        if known.count >= Self.most { known.removeLast() }
        known.insert(([UInt8](header), number), at: 0)
    }

    func forget() { known.removeAll() }
}

extension [UInt8] {
    fileprivate func isSame(as other: ArraySlice<UInt8>) -> Bool {
        count == other.count
            && withUnsafeBytes { ours in
                other.withUnsafeBytes { theirs in
                    guard let ours = ours.baseAddress, let theirs = theirs.baseAddress else { return true }
                    return memcmp(ours, theirs, count) == 0
                }
            }
    }
}

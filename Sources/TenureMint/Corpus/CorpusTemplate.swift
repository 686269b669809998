/// The kinds of the lines in one block (a thousand lines) of a corpus, in their order. The order depends on the block
/// and the seed.
struct CorpusTemplate {
    /// One line of the block.
    struct Slot: Sendable, Hashable {
        let kind: CorpusKind
        /// Whether it is the second line of its customer.
        let isSecond: Bool
        /// The index among the slots with the same kind and the same `isSecond`.
        let number: Int
    }

    /// The number of lines in a block.
    static let size = 1000

    /// The number of lines of each kind in a block. For kinds with two lines, the number of first lines. The rest of
    /// the lines are of the kind `newcomer`.
    private static let shares: [(CorpusKind, Int)] = [
        (.earlyBuyer, 190), (.recentBuyer, 90), (.lateBuyer, 80), (.newcomerWithEverything, 40), (.subscriber, 40),
        (.macBuyer, 60), (.macLateBuyer, 15), (.macNewcomer, 50), (.televisionBuyer, 5), (.giveaway, 20),
        (.changeover, 8), (.noVersion, 3), (.malformedVersion, 3), (.noProof, 2), (.noPlatform, 15),
        (.unknownPlatform, 2), (.versionAfterDate, 5), (.versionBeforeDate, 4), (.preorder, 2), (.oldReceipt, 3),
        (.receipt, 8), (.refundedApp, 4), (.boughtAgain, 2), (.licenseEnded, 1), (.license, 1),
        (.expiredSubscription, 12), (.gracePeriod, 3), (.billingRetry, 3), (.refundedPurchase, 3), (.consumable, 3),
        (.familyShared, 4), (.purchasesOnly, 3), (.renewalOnly, 1), (.duplicate, 6), (.secondDevice, 8),
        (.linkedReceipt, 2), (.sameUser, 1), (.signedForServer, 3), (.quotedLine, 3), (.blanksAround, 3),
        (.partlyBad, 2), (.emptyLine, 3), (.brokenJSON, 2), (.notUTF8, 1), (.nothingSigned, 1), (.wrongShape, 1),
        (.severalAccounts, 1), (.hugeLine, 1), (.oversized, 1), (.garbage, 1), (.otherApp, 2), (.otherAppleID, 1),
        (.sandbox, 6), (.sandboxReceipt, 1), (.xcode, 2), (.expiredChain, 2), (.foreignRoot, 2), (.badSignature, 2),
        (.tampered, 2), (.unsigned, 1), (.tamperedReceipt, 1), (.futureSigning, 1),
    ]

    /// The lines of every block, before they are shuffled.
    private static let slots: [Slot] = {
        var slots: [Slot] = []
        for (kind, count) in shares {
            for number in 0..<count {
                slots.append(Slot(kind: kind, isSecond: false, number: number))
                if kind.hasSecondLine { slots.append(Slot(kind: kind, isSecond: true, number: number)) }
            }
        }
        let newcomers = size - slots.count
        return slots + (0..<max(0, newcomers)).map { Slot(kind: .newcomer, isSecond: false, number: $0) }
    }()

    /// The lines in their order.
    let lines: [Slot]
    /// The index of each line in `lines`.
    private let indexes: [Slot: Int]

    init(block: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed, index: UInt64(block) | (1 << 63))
        lines = Self.slots.shuffled(using: &random)
        indexes = Dictionary(uniqueKeysWithValues: lines.enumerated().map { ($0.element, $0.offset) })
    }

    /// Returns the index of a line in the block.
    func index(of slot: Slot) -> Int? { indexes[slot] }
}

extension SeededRandom {
    /// Creates the generator for a line, a block or a device of a corpus. High bits of `index` separate the uses.
    init(seed: UInt64, index: UInt64) {
        self.init(seed: (seed &* 0x9E37_79B9_7F4A_7C15) ^ (index &* 0xD1B5_4A32_D192_ED03))
    }
}

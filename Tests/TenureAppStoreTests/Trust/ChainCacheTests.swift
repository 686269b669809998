import Foundation
import TenureCore
import TenureMint
import Testing
import X509

@testable import TenureAppStore

@Suite struct ChainCacheTests {
    private func cache(_ budget: ChainCache.Budget = .standard) throws -> ChainCache {
        ChainCache(trust: try TrustConfiguration(anchors: [.production: Minted.authority.anchors]), budget: budget)
    }

    /// A pair of certificates that differs from all other pairs: the signature ends with a counter.
    private func badPair(_ number: Int) -> (leaf: [UInt8], intermediate: [UInt8]) {
        var leaf = Minted.authority.jws.leaf.der
        leaf[leaf.count - 1] ^= UInt8(truncatingIfNeeded: number % 255 + 1)
        leaf[leaf.count - 2] ^= UInt8(truncatingIfNeeded: number / 255)
        return (leaf, Minted.authority.jws.intermediate.der)
    }

    @Test func `after many invalid certificate chains, further unknown chains are refused without a check`() throws {
        let cache = try cache(.init(burst: 8, perSecond: 0))
        var codes: [Rejection.Code] = []
        for number in 0..<12 {
            let pair = badPair(number)
            let found = rejection {
                try cache.chain(leaf: pair.leaf, intermediate: pair.intermediate, purpose: .jws)
            }
            codes.append(try #require(found).code)
        }
        #expect(
            codes == Array(repeating: .untrustedChain, count: 8) + Array(repeating: .tooManyUnknownSigners, count: 4))
        // A chain that was checked and refused before is still refused for its own reason.
        let first = badPair(0)
        #expect(
            rejection { try cache.chain(leaf: first.leaf, intermediate: first.intermediate, purpose: .jws) }?.code
                == .untrustedChain)
    }

    @Test func `a known certificate chain is accepted even after invalid chains used up the limit of chain checks`()
        throws
    {
        let cache = try cache(.init(burst: 1, perSecond: 0))
        let chain = Minted.authority.jws
        _ = try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        for number in 0..<2000 {
            let pair = badPair(number)
            #expect(throws: Rejection.self) {
                try cache.chain(leaf: pair.leaf, intermediate: pair.intermediate, purpose: .jws)
            }
        }
        #expect(throws: Never.self) {
            try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        }
    }

    @Test func `a chain that is refused before its signatures are checked doesn't use up the limit of chain checks`()
        throws
    {
        let cache = try cache(.init(burst: 1, perSecond: 0))
        // The leaf is in the place of the intermediate. No root has the name of its issuer.
        let nameless = Minted.authority.jws.leaf.der
        for number in 0..<100 {
            let found = rejection {
                try cache.chain(leaf: badPair(number).leaf, intermediate: nameless, purpose: .jws)
            }
            #expect(found?.code == .untrustedChain)
        }
        let chain = Minted.authority.jws
        #expect(throws: Never.self) {
            try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        }
    }

    @Test func `a chain that can't be checked now isn't called untrusted if other roots have its root's name`() throws {
        let chain = Minted.authority.jws
        let namesakes = try (0..<5).map { _ in try TestAuthority(receiptsOf: Minted.authority).jws.root.der }
        let anchors = try TrustAnchors(der: namesakes + [chain.root.der])
        func check(_ burst: Double) throws -> TrustedChain {
            let cache = ChainCache(
                trust: try TrustConfiguration(anchors: [.production: anchors]),
                budget: .init(burst: burst, perSecond: 0))
            return try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        }
        #expect(rejection { try check(0) }?.code == .tooManyUnknownSigners)
        #expect(throws: Never.self) { try check(8) }
    }

    @Test func `forged intermediates don't block a new signer under a known intermediate`() throws {
        let cache = try cache(.init(burst: 4, perSecond: 0))
        let chain = Minted.authority.jws
        _ = try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        var codes: [Rejection.Code] = []
        for number in 1...8 {
            var intermediate = chain.intermediate.der
            intermediate[intermediate.count - 1] ^= UInt8(number)
            let found = rejection {
                try cache.chain(leaf: chain.leaf.der, intermediate: intermediate, purpose: .jws)
            }
            codes.append(try #require(found).code)
        }
        #expect(
            codes == Array(repeating: .untrustedChain, count: 4) + Array(repeating: .tooManyUnknownSigners, count: 4))
        let renewed = try Minted.authority.chain(for: .jws, defect: .leafExpiredSince, signedAt: Minted.instant)
        try #require(renewed.intermediate.der == chain.intermediate.der && renewed.leaf.der != chain.leaf.der)
        #expect(throws: Never.self) {
            try cache.chain(leaf: renewed.leaf.der, intermediate: renewed.intermediate.der, purpose: .jws)
        }
    }

    @Test func `a chain that was refused without a check is verified once the limit of chain checks allows a check`()
        async throws
    {
        let cache = try cache(.init(burst: 1, perSecond: 5))
        let bad = badPair(0)
        #expect(throws: Rejection.self) {
            try cache.chain(leaf: bad.leaf, intermediate: bad.intermediate, purpose: .jws)
        }
        let chain = Minted.authority.jws
        // Immediately, the chain is refused without a check, unless the machine is slow. Later it is verified in any
        // case.
        _ = try? cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        try await Task.sleep(for: .milliseconds(250))
        #expect(throws: Never.self) {
            try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        }
    }

    private func isKnown(_ header: ArraySlice<UInt8>, in cache: ChainCache) -> Bool {
        header.withUnsafeBufferPointer { cache.known(header: $0) != nil }
    }

    @Test func `a JWS header is cached only after a signature over it was verified`() throws {
        let verifier = try Minted.verifier()
        let sound = try Minted.minter.mint(.transaction)
        let header = sound.prefix { $0 != UInt8(ascii: ".") }
        let unsigned = try Minted.minter.mint(.transaction, with: .flippedSignatureBit)
        #expect(unsigned.prefix { $0 != UInt8(ascii: ".") } == header)
        #expect(rejection { try verifier.verifyTransaction(unsigned, now: Minted.instant) }?.code == .badSignature)
        #expect(!isKnown(header, in: verifier.cache))
        _ = try verifier.verifyTransaction(sound, now: Minted.instant)
        #expect(isKnown(header, in: verifier.cache))
    }

    @Test func `JWS headers larger than 16 KiB aren't cached`() throws {
        let cache = try cache()
        let pair = Minted.authority.jws
        let chain = try cache.chain(leaf: pair.leaf.der, intermediate: pair.intermediate.der, purpose: .jws)
        for (size, isKept) in [(16 * 1024, true), (16 * 1024 + 1, false)] {
            let header = Array(repeating: UInt8(ascii: "a"), count: size)
            cache.remember(header: header[...], of: chain)
            #expect(isKnown(header[...], in: cache) == isKept)
        }
    }

    @Test func `the 17th JWS header replaces the oldest of the cached headers, and the next one the second oldest`()
        throws
    {
        let cache = try cache()
        let pair = Minted.authority.jws
        let chain = try cache.chain(leaf: pair.leaf.der, intermediate: pair.intermediate.der, purpose: .jws)
        let headers = (0..<18).map { Array("header \($0)".utf8) }
        func remember(_ number: Int) { cache.remember(header: headers[number][...], of: chain) }
        func known() -> [Int] { headers.indices.filter { isKnown(headers[$0][...], in: cache) } }
        for number in 0..<16 { remember(number) }
        // A header that is already there replaces none.
        remember(3)
        #expect(known() == Array(0..<16))
        remember(16)
        #expect(known() == Array(1..<17))
        remember(17)
        #expect(known() == Array(2..<18))
        remember(0)
        #expect(known() == [0] + Array(3..<18))
    }

    @Test func `valid certificate chains don't use up the limit of chain checks`() throws {
        let cache = try cache(.init(burst: 1, perSecond: 0))
        let renewed = try Minted.authority.chain(for: .jws, defect: .leafExpiredSince, signedAt: Minted.instant)
        for chain in [Minted.authority.jws, renewed] {
            #expect(throws: Never.self) {
                try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
            }
        }
        func found(_ number: Int) -> Rejection? {
            let pair = badPair(number)
            return rejection { try cache.chain(leaf: pair.leaf, intermediate: pair.intermediate, purpose: .jws) }
        }
        let checked = found(0)
        #expect(checked?.code == .untrustedChain && checked?.isRetryable == false)
        let unchecked = found(1)
        #expect(unchecked?.code == .tooManyUnknownSigners && unchecked?.isRetryable == true)
        #expect(
            unchecked?.detail == "too many unknown signers came in a short time; send the artifact again later")
    }

    @Test func `the limit for checks of unknown certificate chains recovers over time`() async throws {
        let cache = try cache(.init(burst: 1, perSecond: 100))
        func code(_ number: Int) -> Rejection.Code? {
            let pair = badPair(number)
            return rejection { try cache.chain(leaf: pair.leaf, intermediate: pair.intermediate, purpose: .jws) }?.code
        }
        #expect(code(0) == .untrustedChain)
        try await Task.sleep(for: .milliseconds(50))
        #expect(code(1) == .untrustedChain)
    }

    @Test func `a cached chain for JWS isn't used for receipts`() throws {
        let cache = try cache()
        let chain = Minted.authority.jws
        _ = try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .jws)
        #expect(
            rejection {
                try cache.chain(leaf: chain.leaf.der, intermediate: chain.intermediate.der, purpose: .receipt)
            }?.code == .unsupportedAlgorithm)
    }

    @Test func `a JWS chain with a SHA-1 intermediate is rejected, even if that is cached for receipts`() throws {
        let old = try Minted.authority.receiptChainWithSHA1()
        let anchors = try TrustAnchors(der: [old.root.der])
        let cache = ChainCache(trust: try TrustConfiguration(anchors: [.production: anchors]))
        _ = try cache.chain(leaf: old.leaf.der, intermediate: old.intermediate.der, purpose: .receipt)
        let signer = try AuthorityRole.leaf.recipe(for: .jws)
            .issue(for: Minted.authority.jws.leaf.key, by: old.intermediate)
        #expect(
            rejection { try cache.chain(leaf: signer.der, intermediate: old.intermediate.der, purpose: .jws) }?.code
                == .unsupportedAlgorithm)
    }

    @Test func `a cached certificate chain must be valid at each artifact's signing date`() throws {
        let verifier = try Minted.verifier()
        _ = try verifier.verifyTransaction(Minted.minter.mint(.transaction), now: Minted.instant)
        let early = JWSMinter(authority: Minted.authority, signedAt: Date(timeIntervalSince1970: 1_000_000_000))
        #expect(
            rejection { try verifier.verifyTransaction(early.mint(.transaction), now: Minted.instant) }?.code
                == .outsideValidityPeriod)
    }

    @Test func `many tasks can share one cache of certificate chains`() async throws {
        let verifier = try Minted.verifier()
        let sound = try Minted.minter.mint(.appTransaction)
        let bad = try Minted.minter.mint(.appTransaction, with: .flippedHeaderBit)
        let results = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let jws = number.isMultiple(of: 2) ? sound : bad
                    return (try? verifier.verifyAppTransaction(jws, now: Minted.instant)) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 32)
    }
}

package import Foundation
package import TenureAppStore
import TenureCore
import X509

/// Signs app receipts as the App Store does, and in the environment Xcode as Xcode does, with the keys of a test
/// authority.
package struct ReceiptMinter: Sendable {
    package let authority: TestAuthority
    package let app: MintedApp
    /// When the receipts were made.
    package let instant: Date

    package init(authority: TestAuthority, app: MintedApp = MintedApp(), signedAt instant: Date) {
        self.authority = authority
        self.app = app
        self.instant = instant
    }

    /// The format of the environment.
    package var style: ReceiptStyle {
        app.environment == .xcode ? ReceiptStyle(form: .ber, namesDigestInSignature: true) : ReceiptStyle()
    }

    /// A valid receipt: the default attributes, changed as requested.
    package func mint(_ change: (inout ReceiptDraft) throws -> Void = { _ in }) throws -> [UInt8] {
        var draft = self.draft
        try change(&draft)
        return try mint(draft)
    }

    /// A validly signed receipt with any attributes.
    package func mint(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> [UInt8] {
        try assembly(draft, style: style).bytes()
    }

    /// One receipt with one defect.
    package func mint(with defect: ReceiptDefect) throws -> [UInt8] {
        var draft = self.draft
        defect.corrupt(&draft, at: instant)
        var assembly = try self.assembly(draft)
        try defect.corrupt(&assembly, draft: draft, by: self)
        return try assembly.bytes()
    }

    /// One receipt of a chain with one defect, and the anchors to judge it with.
    package func mint(with defect: ChainDefect) throws -> (receipt: [UInt8], anchors: TrustAnchors) {
        let chain = try authority.chain(for: .receipt, defect: defect, signedAt: instant)
        let assembly = try ReceiptAssembly(
            content: draft.encoded(sorted: true), chain: [chain.leaf, chain.intermediate, chain.root], style: style)
        // A root with Apple's name is compared with the authority's root; an expired root is itself the anchor.
        let root = defect == .namesakeRoot ? authority.receipts.root : chain.root
        return (try assembly.bytes(), try TrustAnchors(der: [root.der]))
    }

    /// A receipt like old ones: SHA-1 in all certificates and in the signature, with its anchors.
    package func mintWithSHA1Chain() throws -> (receipt: [UInt8], anchors: TrustAnchors) {
        let chain = try authority.chain(for: .receipt, signedAt: instant, signatureAlgorithm: .sha1WithRSAEncryption)
        let assembly = try ReceiptAssembly(
            content: draft.encoded(sorted: true), chain: [chain.leaf, chain.intermediate, chain.root],
            style: ReceiptStyle(digest: .sha1))
        return (try assembly.bytes(), try TrustAnchors(der: [chain.root.der]))
    }

    func assembly(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> ReceiptAssembly {
        let style = style ?? self.style
        let chain = authority.receipts
        return try ReceiptAssembly(
            content: draft.encoded(sorted: style.form == .der),
            chain: app.environment == .xcode
                ? [authority.xcodeReceipts] : [chain.leaf, chain.intermediate, chain.root],
            style: style
        )
    }
}

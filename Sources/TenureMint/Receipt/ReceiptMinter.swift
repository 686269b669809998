public import Foundation
public import TenureAppStore
import TenureCore
import X509

/// Signs app receipts as the App Store does, and in the environment Xcode as Xcode does, with the keys of a test
/// authority.
public struct ReceiptMinter: Sendable {
    public let authority: TestAuthority
    public let app: MintedApp
    /// When the receipts say that they were made.
    public let instant: Date

    public init(authority: TestAuthority, app: MintedApp = MintedApp(), signedAt instant: Date) {
        self.authority = authority
        self.app = app
        self.instant = instant
    }

    /// As the environment writes receipts.
    public var style: ReceiptStyle {
        app.environment == .xcode ? ReceiptStyle(form: .ber, namesDigestInSignature: true) : ReceiptStyle()
    }

    /// A sound receipt: the default attributes, changed as wanted.
    public func mint(_ change: (inout ReceiptDraft) throws -> Void = { _ in }) throws -> [UInt8] {
        var draft = self.draft
        try change(&draft)
        return try mint(draft)
    }

    /// A soundly signed receipt with any attributes.
    public func mint(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> [UInt8] {
        try assembly(draft, style: style).bytes()
    }

    /// One receipt with one defect.
    public func mint(with defect: ReceiptDefect) throws -> [UInt8] {
        var draft = self.draft
        defect.spoil(&draft, at: instant)
        var assembly = try self.assembly(draft)
        try defect.spoil(&assembly, draft: draft, by: self)
        return try assembly.bytes()
    }

    /// One receipt of a chain with one defect, and the anchors under which to judge it.
    public func mint(with defect: ChainDefect) throws -> (receipt: [UInt8], anchors: TrustAnchors) {
        let chain = try authority.chain(for: .receipt, defect: defect, signedAt: instant)
        let assembly = try ReceiptAssembly(
            content: draft.encoded(sorted: true), chain: [chain.leaf, chain.intermediate, chain.root], style: style)
        // A namesake is what the authority's root is compared with; an expired root is itself the anchor.
        let root = defect == .namesakeRoot ? authority.receipts.root : chain.root
        return (try assembly.bytes(), try TrustAnchors(der: [root.der]))
    }

    /// A receipt as old ones are: SHA-1 in all certificates and in the signature; and the anchors for it.
    public func mintWithSHA1Chain() throws -> (receipt: [UInt8], anchors: TrustAnchors) {
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

import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import Tenure

/// Receipts of a test authority. All tests share it, because creating RSA keys is slow.
enum DeviceReceipts {
    private static let authority = Result { try TestAuthority() }

    static func minter(_ environment: AppStoreEnvironment = .production) throws -> ReceiptMinter {
        var app = MintedApp()
        app.environment = environment
        return ReceiptMinter(
            authority: try authority.get(), app: app, signedAt: Date(timeIntervalSince1970: 1_795_176_000))
    }

    static func receipt(_ type: ReceiptType) throws -> Data {
        Data(try minter().mint { $0[.receiptType] = .text(type.rawValue) })
    }

    static func receiptWithoutHash() throws -> Data {
        Data(try minter().mint { $0.deviceIdentifier = nil })
    }
}

@Suite struct `The attributes of a receipt` {
    @Test(arguments: [AppStoreEnvironment.production, .sandbox, .xcode])
    func `the attributes of a receipt are read from the receipts of each environment`(environment: AppStoreEnvironment)
        throws
    {
        let receipt = Data(try DeviceReceipts.minter(environment).mint())
        let attributes = try #require(ReceiptAttributes(receipt))
        let expected: [AppStoreEnvironment: ReceiptType] = [
            .production: .production, .sandbox: .productionSandbox, .xcode: .xcode,
        ]
        #expect(attributes.type == expected[environment]?.rawValue)
        #expect(attributes.hasDeviceHash)
    }

    @Test func `the attributes of a receipt are read from indefinite lengths and chunks`() throws {
        let minter = try DeviceReceipts.minter()
        for signsAttributes in [false, true] {
            let style = ReceiptStyle(form: .ber, hasSignedAttributes: signsAttributes)
            let attributes = ReceiptAttributes(Data(try minter.mint(minter.defaultReceipt, style: style)))
            #expect(attributes?.type == "Production")
        }
    }

    @Test func `the attributes of a receipt show whether the receipt has a device hash`() throws {
        let attributes = try #require(ReceiptAttributes(try DeviceReceipts.receiptWithoutHash()))
        #expect(attributes.type == "Production")
        #expect(!attributes.hasDeviceHash)
    }

    @Test
    func `reading the attributes of a changed receipt never traps, and gives the type that the service reads`() throws {
        let minter = try DeviceReceipts.minter()
        for style in [ReceiptStyle(), ReceiptStyle(form: .ber)] {
            let receipt = try minter.mint(minter.defaultReceipt, style: style)
            // The step changes each kind of byte and each bit in turn.
            for index in stride(from: 0, to: receipt.count, by: 13) {
                _ = ReceiptAttributes(Data(receipt[..<index]))
                var changed = receipt
                changed[index] ^= 1 << UInt8(index % 8)
                guard let attributes = ReceiptAttributes(Data(changed)), let served = try? UnverifiedReceipt(changed)
                else { continue }
                #expect(attributes.type == served.payload.receiptType, "byte \(index)")
            }
        }
    }

    @Test func `the attributes of a receipt are nil for bytes that aren't a receipt`() {
        let inputs: [[UInt8]] = [
            [], [0x30], [0x30, 0x80], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], Array(repeating: 0x30, count: 5000),
        ]
        for bytes in inputs { #expect(ReceiptAttributes(Data(bytes)) == nil) }
    }
}

@Suite struct `A Mac app with a receipt` {
    @Test(arguments: [
        (ReceiptType.production, Tenure.Distribution.appStore), (.productionVPP, .appStore),
        (.productionSandbox, .testFlight), (.productionVPPSandbox, .testFlight), (.sandbox, .testFlight),
        (.xcode, .development),
    ])
    func `the receipt's type decides the distribution of a Mac app, even if the receipt's signature isn't trusted`(
        type: ReceiptType, distribution: Tenure.Distribution
    ) throws {
        let receipt = try DeviceReceipts.receipt(type)
        for isSignedByTestFlight in [false, true] {
            #expect(Tenure.Distribution.ofMacApp(receipt: receipt) { isSignedByTestFlight } == distribution)
        }
    }

    @Test func `a Mac app with a receipt has the distribution of its code signature if the receipt can't be read`() {
        for receipt in [nil, Data(), Data([1, 2, 3])] {
            #expect(Tenure.Distribution.ofMacApp(receipt: receipt) { true } == .testFlight)
            #expect(Tenure.Distribution.ofMacApp(receipt: receipt) { false } == .appStore)
        }
    }
}

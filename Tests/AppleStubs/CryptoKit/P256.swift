import Foundation

public enum CryptoKitError: Error {
    case incorrectKeySize
    case incorrectParameterSize
    case authenticationFailure
}

public enum P256: Sendable {
    public enum Signing: Sendable {
        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation: D) throws { throw CryptoKitError.incorrectKeySize }
            public init(pemRepresentation: String) throws { throw CryptoKitError.incorrectKeySize }

            public var rawRepresentation: Data { Data() }
            public var pemRepresentation: String { "" }

            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool { false }
        }

        public struct PrivateKey: Sendable {
            public init() {}
            public init<D: ContiguousBytes>(rawRepresentation: D) throws { throw CryptoKitError.incorrectKeySize }

            public var publicKey: PublicKey {
                get { fatalError("stubs are never run") }
            }

            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature {
                try ECDSASignature(rawRepresentation: Data())
            }
        }

        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation: D) throws { throw CryptoKitError.incorrectParameterSize }

            public var rawRepresentation: Data { Data() }
        }
    }
}

import TenureJSON

#if Service
    import Foundation
    package import LocalAppStore
    import TenureAppStore

    /// To a store in this process.
    struct InProcessConnection: StoreConnection {
        let interface: DeviceInterface

        init(_ store: LocalAppStore) {
            interface = DeviceInterface(store: store)
        }

        func ask(_ question: Question, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject {
            guard let known = DeviceQuestion(rawValue: question.rawValue) else {
                throw .refused(code: "badRequest", detail: "no device asks for `\(question.rawValue)`")
            }
            do throws(DeviceRefusal) {
                return try await interface.answer(known, body)
            } catch {
                throw .refused(code: error.code.rawValue, detail: error.description)
            }
        }

        func askAtOnce(_ question: Question, _ body: JSONObject) -> JSONObject? { nil }
    }

    extension LocalStore {
        /// A device of a customer of a store in this process, on which the app was just installed.
        ///
        /// - Parameters:
        ///   - customer: nil: the store's only one.
        ///   - app: the bundle id; nil: the store's only one.
        ///   - device: what this customer calls the device; another name is another device.
        /// - Throws: a `StoreKitError` where there is no such customer or app.
        package convenience init(
            _ store: LocalAppStore, customer: String? = nil, app: String? = nil, device: String = "first",
            deviceVerificationID: UUID? = nil
        ) async throws(StoreKitError) {
            self.init(
                connection: InProcessConnection(store),
                place: Place(customer: customer, app: app, device: device, deviceVerificationID: deviceVerificationID))
            try await install()
        }
    }
#endif

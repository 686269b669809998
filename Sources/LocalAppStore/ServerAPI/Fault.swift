/// An error with which the App Store Server API answers the next requests, so that a developer can test how a server
/// handles it. The control interface injects it (`POST /control/fault`).
actor Fault {
    /// The injected error; nil before the first.
    private var error: ServerAPIError?
    /// The number of requests that will still fail.
    private var requests = 0

    /// Makes the next `requests` requests fail. 0 ends the fault.
    func inject(_ error: ServerAPIError, requests: Int) {
        self.error = error
        self.requests = requests
    }

    /// Returns the error for the next request; nil if the request doesn't fail.
    func next() -> ServerAPIError? {
        guard requests > 0 else { return nil }
        requests -= 1
        return error
    }
}

import TenurePolicyFile

func tryPolicy(_ input: [UInt8]) {
}

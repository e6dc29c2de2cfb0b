export { clamdAddress, ScanFailedError } from './clamd.ts'
export { VirusScanner, type VirusScannerOptions, type VirusVerdict } from './virus-scanner.ts'

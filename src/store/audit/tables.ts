/** Tables of the audit log. */

/** Append-only audit log; each entry's hash includes the previous hash. */
interface AuditEntriesTable {
  /** Number of the entry, without gaps from 1. */
  sequence: number
  at: number
  action: string
  signer: string | null
  api_key_id: string
  request_id: string
  details_json: string
  /** SHA-256 of the previous entry in hex; 64 zeros for the first entry. */
  previous_hash: string
  hash: string
  /** HMAC-SHA256 of `hash` with the vault's key, in hex. */
  seal: string
}

/** Places at which the audit log was cut: entries up to `sequence` are removed, and the next one continues `hash`. */
interface AuditAnchorsTable {
  sequence: number
  /** Hash of the last removed entry. */
  hash: string
  /** Time of the last removed entry. */
  at: number
  /** State of the signers' policies after the last removed entry, as JSON. */
  policies_json: string
  cut_at: number
  /** HMAC-SHA256 of the other columns with the vault's key, in hex. */
  seal: string
}

export interface AuditTables {
  audit_entries: AuditEntriesTable
  audit_anchors: AuditAnchorsTable
}

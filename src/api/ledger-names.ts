/** Names used in entries of the ledger, as plain data, so that commands load no schema library. */
export const LEDGER_KINDS = [
  'claim',
  'split_share',
  'platform_fee',
  'rent_paid',
  'rent_returned',
  'network_fee',
  'relay_tip',
  'launch',
  'trade',
  'migration',
  'airdrop_funding',
  'airdrop_claim',
  'withdrawal',
  'raise',
  'lock',
  'unlock',
  'mint',
  'burn',
  'withheld',
  'transfer',
  'other',
] as const
export const LEDGER_PARTIES = [
  'partner',
  'creator',
  'protocol',
  'platform',
  'trader',
  'recipient',
  'claimant',
  'pool',
  'airdrop',
  'raise',
  'lock',
  'mint',
  'network',
  'other',
] as const
export const LEDGER_GROUPS = ['pool', 'mint', 'party', 'month', 'kind'] as const
export type LedgerKind = (typeof LEDGER_KINDS)[number]
export type LedgerParty = (typeof LEDGER_PARTIES)[number]

/** The fifteenth migration: what the vault of an airdrop lacks for what can still be claimed. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const vaultShortages = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table merkle_trees add column vault_lacks text',
      'alter table merkle_trees add column vault_lacks_since bigint',
      'alter table merkle_trees add column mint_decimals integer',
      'create index merkle_trees_short on merkle_trees (vault_lacks_since) where vault_lacks_since is not null',
    ]),
})

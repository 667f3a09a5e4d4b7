/** The sixteenth migration: raises, with the plans of their pools. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const raises = ({ sequence }: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table raises (
        seq ${sequence},
        id text not null unique,
        genesis text not null,
        mint text not null,
        quote_mint text not null,
        creator text not null,
        creator_vault text,
        sale_mode text not null,
        min text not null,
        max text not null,
        supply text not null,
        state text not null,
        deposited text not null default '0',
        ends_at bigint not null,
        withdrawn integer not null default 0,
        pool_json text,
        pool_address text,
        settle integer not null default 0,
        settle_error text,
        settle_failures integer not null default 0,
        settle_failed_at bigint,
        settle_signing text,
        next_check_at bigint,
        external_uid text,
        metadata_json text,
        created_at bigint not null
      )`,
      'create index raises_by_mint on raises (mint, seq)',
      'create index raises_by_creator on raises (creator, seq)',
      'create index raises_by_mint_creator on raises (mint, creator, seq)',
      'create index raises_unsettled on raises (ends_at) where withdrawn = 0',
      'create index raises_due on raises (next_check_at, seq) where next_check_at is not null',
    ]),
})

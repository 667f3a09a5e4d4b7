/** The seventeenth migration: allowlists of raises, and the pieces that their proofs are read from. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const raiseAllowlists = ({ blob }: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table raise_allowlists (
        raise_id text not null,
        version integer not null,
        root text not null,
        entries integer not null,
        total text not null,
        created_by text,
        created_at bigint not null,
        constraint raise_allowlists_pk primary key (raise_id, version)
      )`,
      `create table raise_allowlist_pieces (
        raise_id text not null,
        version integer not null,
        n integer not null,
        first_key text not null,
        entries ${blob} not null,
        path ${blob} not null,
        constraint raise_allowlist_pieces_pk primary key (raise_id, version, n)
      )`,
      'create index raise_allowlist_pieces_by_key on raise_allowlist_pieces (raise_id, version, first_key)',
    ]),
})

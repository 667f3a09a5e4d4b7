/** Programs of the cluster that svc builds on: their builds, and what was tried with them. */
import { z } from '@hono/zod-openapi'
import { address } from './chain-scalars.ts'
import { writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'

const instruction = z.object({
  program: address,
  name: z.string().meta({ description: 'Name in the program’s IDL', example: 'swap2' }),
})

const programBuild = z
  .object({
    id: address,
    name: z.string().meta({ example: 'Meteora DBC' }),
    slot: z.int().min(0).nullable().meta({ description: 'Of its last deployment; null for a loader without upgrades' }),
    authority: address.nullable().meta({ description: 'Who can upgrade it; null if nobody can' }),
    sha256: z.string().nullable().meta({
      description: 'Of its bytes without trailing zeros, as `solana-verify` computes it; null if not read yet',
    }),
    size: z.int().min(0).nullable(),
    differences: z.array(z.string()).meta({
      description: 'How the IDL that the program publishes differs from the instructions that svc builds; a hint',
    }),
    fault: z.string().nullable().meta({
      description: 'Why the cluster cannot run it, as when it was closed; null if it can',
      example: null,
    }),
    tested: z.boolean().meta({ description: 'Whether this version of svc was tested with this build' }),
  })
  .openapi('ProgramBuild')

const programAct = z
  .object({
    act: z.string().meta({ example: 'launch' }),
    status: z.enum(['passed', 'failed', 'untried']),
    error: z.string().nullable(),
    instruction: instruction
      .nullable()
      .meta({ description: 'The instruction that failed, if a transaction got so far' }),
    failed_program: address.nullable().meta({
      description:
        'The program that failed in it: its own, or one that it calls, such as DAMM v2 in a migration of DBC',
    }),
  })
  .openapi('ProgramAct')

const programReport = z
  .object({
    cluster: z.string().meta({ example: 'mainnet-beta' }),
    looked_at: timestamp.nullable().meta({ description: 'When the cluster was last asked; null if never' }),
    programs: z.array(programBuild).meta({ description: 'Those that the cluster has' }),
    tried_at: timestamp.nullable().meta({ description: 'When these builds were tried together; null if never' }),
    trial_error: z.string().nullable().meta({ description: 'Why the trial ended early; null if it did not' }),
    acts: z.array(programAct).meta({ description: 'What was tried, in its order; empty without a trial' }),
    refused: z
      .array(instruction)
      .meta({ description: 'Instructions that fail with these builds: nothing that has one is signed' }),
  })
  .openapi('ProgramReport')

export type ProgramReport = z.output<typeof programReport>

const PROGRAMS_TAG: Tag = {
  name: 'Programs',
  description: 'The programs of the cluster that transactions are built for: which builds it runs, and what works.',
}

export const programs = {
  get: defineRoute({
    at: ['get', '/v2/programs'],
    tag: PROGRAMS_TAG,
    summary: 'Read which builds of programs the cluster runs, and what was tried with them',
    description:
      'As the last look found it, which a daemon repeats every five minutes. A build that is new is tried in memory, with every instruction that is built here.',
    data: programReport,
  }),
  check: defineRoute({
    at: ['post', '/v2/program-checks'],
    tag: PROGRAMS_TAG,
    summary: 'Look at the programs of the cluster now',
    description:
      'New builds are fetched and tried before the answer, which takes some ten seconds. `again` tries them even if they were tried or tested before. Checks at the same time share one look.',
    body: writeBody({ again: z.boolean().default(false) }),
    data: programReport,
    scope: '*',
  }),
}

/** Settings of claim pages. */
import { define } from '../setting.ts'

export const claimPagesSettings = define({
  'claim-pages': {
    kind: 'boolean',
    default: false,
    about: 'Serve what claim pages need, without a key: the page of each stored airdrop, and its sponsored claims',
    project: 'it opens this machine to everybody',
  },
  'claim-page-rpc-url': {
    kind: 'string',
    pattern: { is: /^https?:\/\/[^\s@]+$/, about: 'a URL like https://rpc.example.com, without a user name' },
    about: 'Node that claim pages of this daemon ask; everybody can read it, so it is never taken from rpc-url',
    project: 'it is shown to everybody',
  },
  'claim-page-config': {
    kind: 'string',
    about:
      'JSON file with name, logo, colours, texts and nodes of the claim pages of this daemon (docs/claim-pages.md)',
    project: 'it names a file of this machine',
  },
  'claim-origins': {
    kind: 'list',
    pattern: { is: /^(?:\*|https?:\/\/[^/\s@?#]+)$/, about: 'origins like https://claim.example.com, or *' },
    about: 'Origins of claim pages hosted elsewhere that may ask for sponsored claims, or * for any; none unless set',
    project: 'it opens this machine to web pages',
  },
})

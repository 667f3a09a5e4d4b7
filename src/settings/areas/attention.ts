/** Settings of what needs a person: when it counts, and where it is sent. */
import { define } from '../setting.ts'

export const attentionSettings = define({
  'backup-days': {
    kind: 'integer',
    default: 7,
    min: 1,
    max: 365,
    about: 'Days after which the last `svc db backup` counts as old, if one was ever made',
    project: true,
    reload: true,
  },
})

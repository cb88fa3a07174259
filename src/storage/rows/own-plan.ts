/** The place under which the tasks of the project's own plan are counted. */
export const ownPlan = ''

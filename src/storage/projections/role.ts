import type { Of, Projecting } from './projecting.ts'

export async function applyRoleDeclared(
  { db, projectId, seq }: Projecting,
  { role }: Of<'role.declared'>,
): Promise<void> {
  await db
    .insertInto('role')
    .values({ project_id: projectId, role, seq })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

-- Events are found by their id and by their age; nothing asks for the newest of a workspace, and every change paid for it.

drop index events_newest;

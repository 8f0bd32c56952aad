// Has no interface: linking it is its use.
#pragma once

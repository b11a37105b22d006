"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {'VERSION': 'I',
 'TARGET': 'J',
 'ADDRESS_SIZE': 'K',
 'FILE': 'L',
 'LOC': 'M',
 'PRAGMA': 'N',
 'ALIAS': 'O',
 'SECTION': 'P',
 'ENTRY': 'Q',
 'FUNC': 'R',
 'CALLPROTOTYPE': 'S',
 'TARGETS': 'T',
 'ENTRY_FLAG': 'U',
 'ENTRY_NUMBER': 'V',
 'ENTRY_EXTENT': 'W',
 'FUNC_FLAG': 'X',
 'FUNC_NUMBER': 'Y',
 'LINKAGE': 'Z',
 'SPACE': 'a',
 'TYPE': 'b',
 'VECTOR': 'c',
 'ALIGN': 'd',
 'PTR': 'e',
 'ATTRIBUTE': 'f',
 'SINGLE': 'g',
 'FLOAT': 'h',
 'INTEGER': 'i',
 'STRING': 'j',
 'WARP_SZ': 'k',
 'CALL': 'l',
 'GENERIC': 'm',
 'FUNCTION_NAME': 'n',
 'SINK': 'o',
 'INLINED_AT': 'p',
 'QUALIFIED': 'q',
 'DOTTED': 'r',
 'NAME': 's',
 'WORD': 't',
 '!=': 'A',
 '&&': 'B',
 '<<': 'C',
 '<=': 'D',
 '==': 'E',
 '>=': 'F',
 '>>': 'G',
 '||': 'H',
 '!': '!',
 '%': '%',
 '&': '&',
 '(': '(',
 ')': ')',
 '*': '*',
 '+': '+',
 ',': ',',
 '-': '-',
 '/': '/',
 ':': ':',
 ';': ';',
 '<': '<',
 '=': '=',
 '>': '>',
 '?': '?',
 '@': '@',
 '[': '[',
 ']': ']',
 '^': '^',
 '{': '{',
 '|': '|',
 '}': '}',
 '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {'.version': 'I',
 '.target': 'J',
 '.address_size': 'K',
 '.file': 'L',
 '.loc': 'M',
 '.pragma': 'N',
 '.alias': 'O',
 '.section': 'P',
 '.entry': 'Q',
 '.func': 'R',
 '.callprototype': 'S',
 '.branchtargets': 'T',
 '.calltargets': 'T',
 '.explicitcluster': 'U',
 '.blocksareclusters': 'U',
 '.maxnreg': 'V',
 '.minnctapersm': 'V',
 '.maxnctapersm': 'V',
 '.maxclusterrank': 'V',
 '.maxntid': 'W',
 '.reqntid': 'W',
 '.reqnctapercluster': 'W',
 '.noreturn': 'X',
 '.abi_preserve': 'Y',
 '.abi_preserve_control': 'Y',
 '.extern': 'Z',
 '.visible': 'Z',
 '.weak': 'Z',
 '.common': 'Z',
 '.reg': 'a',
 '.const': 'a',
 '.global': 'a',
 '.local': 'a',
 '.param': 'a',
 '.shared': 'a',
 '.tex': 'a',
 '.b8': 'b',
 '.b16': 'b',
 '.b32': 'b',
 '.b64': 'b',
 '.b128': 'b',
 '.s8': 'b',
 '.s16': 'b',
 '.s32': 'b',
 '.s64': 'b',
 '.u8': 'b',
 '.u16': 'b',
 '.u32': 'b',
 '.u64': 'b',
 '.f16': 'b',
 '.f16x2': 'b',
 '.f32': 'b',
 '.f64': 'b',
 '.bf16': 'b',
 '.bf16x2': 'b',
 '.tf32': 'b',
 '.s16x2': 'b',
 '.u16x2': 'b',
 '.pred': 'b',
 '.texref': 'b',
 '.samplerref': 'b',
 '.surfref': 'b',
 '.v2': 'c',
 '.v4': 'c',
 '.v8': 'c',
 '.align': 'd',
 '.ptr': 'e',
 '.attribute': 'f',
 'WARP_SZ': 'k',
 'generic': 'm',
 'function_name': 'n',
 '_': 'o',
 'inlined_at': 'p'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'WORD': '\\.[\\w$]+(?:::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, method (`-` if spliced, `?` if a lone child stands for it), length.
RULES = """\
___opcode_star_13 - 2
___opcode_star_13 - 1
__address_star_15 - 3
__address_star_15 - 3
__address_star_15 - 2
__address_star_15 - 2
__attributes_star_8 - 3
__attributes_star_8 - 2
__declarator_star_9 - 2
__declarator_star_9 - 1
__function_header_star_2 - 2
__function_header_star_2 - 1
__function_header_star_3 - 2
__function_header_star_3 - 1
__initializer_star_10 - 3
__initializer_star_10 - 2
__instruction_star_12 - 3
__instruction_star_12 - 2
__parameter_star_5 - 2
__parameter_star_5 - 1
__parameters_star_4 - 3
__parameters_star_4 - 2
__pragma_star_1 - 3
__pragma_star_1 - 2
__section_line_star_11 - 3
__section_line_star_11 - 2
__statement_star_6 - 3
__statement_star_6 - 2
__target_star_0 - 3
__target_star_0 - 2
__variable_star_7 - 3
__variable_star_7 - 2
__vector_star_14 - 3
__vector_star_14 - 2
_index - 1
_index - 1
_inlined - 8
_modifier - 1
_modifier - 1
_modifier - 1
_modifier - 1
_modifier - 1
_name - 1
_name - 1
_name - 1
_name - 1
_opcode - 2
_opcode - 1
_opcode - 2
_opcode - 1
_opcode - 2
_opcode - 1
_section_type - 1
_section_type - 1
_specifier - 1
_specifier - 1
_specifier - 1
_specifier - 1
address address 5
address address 4
address address 4
address address 3
alignment alignment 2
arguments arguments 4
arguments arguments 3
arguments arguments 2
attribute attribute 6
attribute attribute 1
attributes attributes 5
attributes attributes 4
base base? 1
base base? 1
base offset 3
base offset 3
bit_and bit_and? 1
bit_and binary 3
bit_or bit_or? 1
bit_or binary 3
bit_xor bit_xor? 1
bit_xor binary 3
body body 3
call call 11
call call 9
call call 9
call call 7
call call 9
call call 7
call call 7
call call 5
call call 10
call call 8
call call 8
call call 6
call call 8
call call 6
call call 6
call call 4
call call 10
call call 8
call call 8
call call 6
call call 8
call call 6
call call 6
call call 4
call call 9
call call 7
call call 7
call call 5
call call 7
call call 5
call call 5
call call 3
close close 1
conditional conditional? 1
conditional conditional 5
constant constant? 1
constant constant? 1
count count 3
count count 3
debug_name name 1
debug_name name 1
debug_symbol debug_symbol? 1
debug_symbol binary 3
declarator declarator 4
declarator declarator 2
declarator declarator 5
declarator declarator 3
declarator declarator 6
declarator declarator 4
declarator declarator 5
declarator declarator 3
declarator declarator 4
declarator declarator 2
declarator declarator 5
declarator declarator 3
declarator declarator 4
declarator declarator 2
declarator declarator 3
declarator declarator 1
dimension dimension 3
dimension dimension 3
element element? 1
element field 3
end end 1
entry_directive entry_directive? 1
entry_directive directive 6
entry_directive directive 4
entry_directive directive 2
entry_directive directive 1
entry_directive directive 2
equality equality? 1
equality binary 3
equality binary 3
expression expression? 1
func_directive directive 1
func_directive directive 2
function function 2
function function 2
function_header function_header 3
function_header function_header 4
function_header function_header 3
function_header function_header 2
function_header function_header 3
function_header function_header 4
function_header function_header 3
function_header function_header 2
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 5
function_header function_header 6
function_header function_header 5
function_header function_header 4
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 5
function_header function_header 6
function_header function_header 5
function_header function_header 4
function_header function_header 6
function_header function_header 7
function_header function_header 6
function_header function_header 5
function_header function_header 5
function_header function_header 6
function_header function_header 5
function_header function_header 4
generic generic 4
guard guard 2
guard guard 3
initial_value initial_value? 1
initial_value initial_value? 1
initial_value initial_value? 1
initial_value binary 3
initial_value binary 3
initial_value mask 4
initializer initializer? 1
initializer vector 4
initializer vector 3
initializer vector 2
instruction instruction 4
instruction instruction 3
instruction instruction 2
instruction instruction 5
instruction instruction 4
instruction instruction 3
item item? 1
item item? 1
item item? 1
item item? 1
item item? 1
item directive 2
item directive 5
item directive 7
item directive 5
item directive 3
item directive 2
item linked_variable 2
items items 2
items items 0
label label 2
label_name name 1
logical_and logical_and? 1
logical_and binary 3
logical_or logical_or? 1
logical_or binary 3
masked masked? 1
masked masked? 1
masked masked? 1
masked binary 3
masked binary 3
module module 1
name name 2
name name 1
name name 1
open open 1
operand operand? 1
operand operand? 1
operand operand? 1
operand element 4
operand pair 3
operand pair 3
parameter parameter 4
parameter parameter 4
parameter parameter 3
parameter parameter 5
parameter parameter 5
parameter parameter 4
parameter parameter 6
parameter parameter 6
parameter parameter 5
parameter parameter 5
parameter parameter 5
parameter parameter 4
parameter parameter 3
parameter parameter 3
parameter parameter 2
parameter parameter 4
parameter parameter 4
parameter parameter 3
parameter parameter 5
parameter parameter 5
parameter parameter 4
parameter parameter 4
parameter parameter 4
parameter parameter 3
parameters parameters 4
parameters parameters 3
parameters parameters 2
plain_name name 1
pointer pointer 2
pointer pointer 3
pointer pointer 2
pointer pointer 1
pragma directive 4
pragma directive 3
primary float 1
primary integer 1
primary name 1
primary parenthesized 3
product product? 1
product binary 3
product binary 3
product binary 3
relation relation? 1
relation binary 3
relation binary 3
relation binary 3
relation binary 3
section section 3
section_header section_header 3
section_integer integer 1
section_integer unary 2
section_line section_line? 1
section_line difference 4
section_line directive 2
section_line directive 3
section_line directive 2
section_lines section_lines 2
section_lines section_lines 0
section_literal integer 1
shift shift? 1
shift binary 3
shift binary 3
single float 1
single parenthesized 3
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement call_prototype 5
statement call_prototype 6
statement call_prototype 5
statement call_prototype 4
statement call_prototype 4
statement call_prototype 5
statement call_prototype 4
statement call_prototype 3
statement directive 5
statement directive 4
statement directive 4
statement directive 3
statement inner_prototype 4
statement inner_prototype 5
statement inner_prototype 4
statement inner_prototype 3
statement inner_prototype 5
statement inner_prototype 6
statement inner_prototype 5
statement inner_prototype 4
statement inner_prototype 5
statement inner_prototype 6
statement inner_prototype 5
statement inner_prototype 4
statement inner_prototype 6
statement inner_prototype 7
statement inner_prototype 6
statement inner_prototype 5
statements statements 2
statements statements 0
sum sum? 1
sum binary 3
sum binary 3
target directive 3
target directive 2
target_label target_label 2
target_label target_label 1
unary unary? 1
unary cast 4
unary unary 2
unary unary 2
unary unary 2
unary unary 2
unsized unsized 2
value value? 1
value value? 1
value binary 3
value unary 2
value unary 2
variable variable 5
variable variable 4
variable variable 3
variable variable 4
variable variable 3
variable variable 2
vector vector 4
vector vector 3"""

# A state a line: kinds, and for each the next state, or -1 - the rule to reduce.
ACTIONS = """\
$KOdfQLRZNPaJbcI -232
$KOdfQLRZNPaJbcI -244 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17

i 30
lmso 31 32 33 34
i 36
( 37
lmso 31 32 33 34
i 39
flm(so 6 31 32 40 33 34
dfQRabc 5 6 44 45 13 15 16
j 47
t 48
dfabc -57
lmso 31 32 33 34
lms;o 31 32 33 50 34
dfabc -58
h 53
dfabc 5 6 13 54 16
dfabc -20
dfabc -55
dfabc -56
$KOdfQLRZNPaJbcI -219
{; 56 57
$KOdfQLRZNPaJbcI -231
$KOdfQLRZNPaJbcI -220
$KOdfQLRZNPaJbcI -221
lms}obt -312
$KOdfQLRZNPaJbcI -222
$KOdfQLRZNPaJbcI -223
$KOdfQLRZNPaJbcI -224
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -43
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -44
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -45
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -46
, 62
dflmseoabc -63
t 63
WUV{(N; 65 66 67 -163 40 11 -163
j 72
df)abc 5 6 73 13 74 16
XY{(; 77 78 -167 40 -167
lm(so 31 32 40 33 34
lmso 31 32 33 34
lmso 31 32 33 34
flm(so 6 31 32 40 33 34
$KOdfQLRZNPaJbcI -230
,; 89 90
{ 92
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -360 -360 -360 -360 -360 -360 -360 -360 93 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -380
,=<[; -140 95 96 97 -140
,; 102 103
$KOdfQLRZNPaJbcI -229
lms;o 31 32 33 105 34
dfabc -19
d@flSrRm{ZMsNq}oaJTbc -248
$KOdfQLRZNPaJbcI -145
$KOdfQLRZNPaJbcI -158
$KOdfQLRZNPaJbcI -159
d@flSrRm{ZMsNq}oaJTbc -355
lms}obt 31 32 33 108 34 109 110
lmso 31 32 33 34
,() -68 117 -68
,) 118 119
i 121
WUV{N; -150
i 122
WUV{N; 65 66 67 -160 11 -160
WUV{N; -12
WUV{N; 65 66 67 -162 11 -162
WUV{N; -146
$KOdf,QLRZNPaJbcI -228 -228 -228 -228 -228 125 -228 -228 -228 -228 -228 -228 -228 -228 -228 -228 -228
lWUVXYm{sN;o -281
dlmseo 5 31 32 33 126 34
dfabc 5 6 13 130 16
,) 131 132
XY{; -156
i 134
XY{; 77 78 -164 -164
XY{; -14
XY{; 77 78 -166 -166
XY{(; 77 78 -171 40 -171
lmso 31 32 33 34
XY{(; 77 78 -179 40 -179
WUV{(N; 65 66 67 -183 40 11 -183
XY{(; 77 78 -187 40 -187
lm(so 31 32 40 33 34
lmso 31 32 33 34
j 149
$KOd@flSrQWUVLRm{ZMsNq}P;oaJTbcI -288
,; 150 151
lms}obt -303
lmso 31 32 33 34
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -359 -359 -359 -359 -359 -359 -359 -359 153 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
ik 187 188
i]k 189 190 191
,=[; -126 192 193 -126
,=[; -134 195 97 -134
,=[; -10
,=[; -138 198 193 -138
lmso 31 32 33 34
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -379
,; 201 202
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -377
,; 102 203
d@flSrRm{ZMsNq}oaJTbc 5 205 6 206 207 208 209 32 56 210 211 212 11 213 108 34 13 14 214 15 16
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -114
lmi-sot -53
lmi-sot -54
: 226
lmi-sot 31 32 227 228 33 34 229
$KOdfQLRZNPaJbcI -302
lms}obt -306
lms}obt -311
; 235
i 236
t 63
dflm(soabc -70
,) 238 239
,WUV{N; 240 -149 -149 -149 -149 -149 -149
WUV{N; -151
WUV{N; -11
WUV{N; 65 66 67 -161 11 -161
i 241
dlmsoa 5 -286 -286 -286 -286 242
,[) -269 97 -269
lmseo 31 32 33 126 34
lmso 31 32 33 34
dlmseo 5 31 32 33 126 34
dfabc 5 6 13 74 16
lWUVXYm{sN;o -280
,) 253 254
XY{; -157
XY{; -13
XY{; 77 78 -165 -165
XY{; 77 78 -168 -168
XY{; 77 78 -170 -170
XY{(; 77 78 -175 40 -175
XY{; 77 78 -176 -176
XY{; 77 78 -178 -178
WUV{N; 65 66 67 -180 11 -180
WUV{N; 65 66 67 -182 11 -182
XY{; 77 78 -184 -184
XY{; 77 78 -186 -186
XY{(; 77 78 -191 40 -191
lmso 31 32 33 34
XY{(; 77 78 -199 40 -199
,; -24
j 266
$KOd@flSrQWUVLRm{ZMsNq}P;oaJTbcI -287
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -30
lmso 31 32 33 34
!hi(-+~k 154 155 268 269 160 161 164 165
&^:,<->%+?})];/*|HBEADFCG -289
,=(+});t -44 -44 271 -44 -44 -44 -44 -44
&^,<(->%+?};/*|HBEADFCG -290 -290 -290 -290 272 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290
!lhmi{(-s+q}go~k 154 31 155 156 157 158 159 160 33 161 162 273 163 34 164 165
!hi(-+g~bk 154 155 268 159 160 161 163 164 277 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
,=[+})];| -247
,}); -317
!hi(-+~k 154 155 268 269 160 161 164 165
&^:,<->%+?})];/*|HBEADFCG -291
,=[+})];|t -246 -246 -246 -246 -246 -246 -246 -246 -246 283
&^:,?})];|HB 284 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79
:,?})];|HB -235 -235 -235 -235 -235 -235 -235 285 -235 -235
^:,?})];|HB 286 -77 -77 -77 -77 -77 -77 -77 -77 -77 -77
:,})]; -155
,}; -203
&^:,?})];|HBEA -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 287 288
,}); -117
,+}; -204 289 -204 -204
,}; -209
,; -139
:,?})];HB -237 -237 -237 -237 -237 -237 -237 -237 290
:,?})];H -115 -115 291 -115 -115 -115 -115 292
,+}; -205 293 -205 -205
&^:,<->%+?})];/*|HBEADFCG -363
&^:,<->%+?})];/*|HBEADFCG -356 -356 -356 -356 -356 -356 -356 294 -356 -356 -356 -356 -356 -356 295 296 -356 -356 -356 -356 -356 -356 -356 -356 -356
&^:,<>?})];|HBEADF -152 -152 -152 -152 297 298 -152 -152 -152 -152 -152 -152 -152 -152 -152 -152 299 300
&^:,<>?})];|HBEADFCG -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 301 302
,}); -118
&^:,<->+?})];|HBEADFCG -314 -314 -314 -314 -314 303 -314 304 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314
&^:,<->%+?})];/*|HBEADFCG -293
> 305
> 306
] 307
,=[); -369
] 308
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
ik 189 191
,=[; -9
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,=[; -128 311 193 -128
,=[; -132 312 193 -132
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,=[; -136 315 193 -136
,; -32
lmso 31 32 33 34
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -378
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -376
,; 201 317
!lmso 318 31 32 33 34
l:mZ(sqoabct 31 -43 32 320 321 33 162 34 322 323 324 325
(o 40 330
!lhmi{Z([-s+q;goa~bckt -48 -48 -48 -48 -48 -48 320 -48 -48 -48 -48 -48 -48 -48 -48 -48 322 -48 323 324 -48 325
lm(so 31 32 40 33 34
R 335
i 336
!l:hmi{Z([-s+q;goa~bckt -50 -50 -45 -50 -50 -50 -50 320 -50 -50 -50 -50 -50 -50 -50 -50 -50 322 -50 323 324 -50 325
!lhmi{Z([-s+q;goa~bckt -52 -52 -52 -52 -52 -52 320 -52 -52 -52 -52 -52 -52 -52 -52 -52 322 -52 323 324 -52 325
lmso 31 32 33 34
!lhmi{([-s+q;go~k 341 31 155 32 268 342 159 343 344 33 161 162 345 163 34 164 165
d@flSrRm{ZMsNq}oaJTbc -319
d@flSrRm{ZMsNq}oaJTbc -320
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -81
lrsq 352 208 353 213
d@flSrRm{ZMsNq}oaJTbc -321
d@flSrRm{ZMsNq}oaJTbc -322
d@flSrRm{ZMsNq}oaJTbc -323
d@flSrRm{ZMsNq}oaJTbc -354
d@flSrRm{ZMsNq}oaJTbc -324
d@flSrRm{ZMsNq}oaJTbc -325
d@flSrRm{ZMsNq}oaJTbct -233
l,ms}obt -304
i 355
l,ms+}obt -122
lm-s+}obt -121 -121 -234 -121 -121 -121 -121 -121 -121
l,ms+}obt -123 -123 -123 -123 357 -123 -123 -123 -123
lms}obt -308
- 358
l,ms}obt -310 359 -310 -310 -310 -310 -310 -310
$KOdfQLRZNPaJbcI -225
, 361
,) -8
t 63
dflm(soabc -69
i 363
$KOdf,QLRZNPaJbcI -227 -227 -227 -227 -227 364 -227 -227 -227 -227 -227 -227 -227 -227 -227 -227 -227
dlmso 5 -285 -285 -285 -285
lmso -283
,) -267
,) -268
,[) -272 97 -272
lmso 31 32 33 34
,[) -278 97 -278
,[) -257 97 -257
lmseo 31 32 33 126 34
lmso 31 32 33 34
,) -22
dfabc 5 6 13 74 16
lWUVXYm{sN;o -279
XY{; 77 78 -169 -169
XY{; 77 78 -172 -172
XY{; 77 78 -174 -174
XY{; 77 78 -177 -177
WUV{N; 65 66 67 -181 11 -181
XY{; 77 78 -185 -185
XY{; 77 78 -188 -188
XY{; 77 78 -190 -190
XY{(; 77 78 -195 40 -195
XY{; 77 78 -196 -196
XY{; 77 78 -198 -198
,; -23
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -29
&^:,<->%+?})];/*|HBEADFCG -290
!hi(-+~bk 154 155 268 269 160 161 164 277 165
&^:,<->%+?})];/*|HBEADFCG -365
lmsqo 31 32 33 162 34
!lhmi(-s+qo~k 154 31 155 156 268 269 160 33 161 162 34 164 165
,}; -212
,} 387 388
,} -143
,=+} -205 390 293 -205
) 391
) 392
) 393
&^:,<->%+?})];/*|HBEADFCG -366
&^:,<->%+?})];/*|HBEADFCG -367
&^:,<->%+?})];/*|HBEADFCG -368
,=[+})];| -245
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
,=[; -119
,=[; -120
,=[); -141
,=[); -142
,; -125
,; -133
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,=[; -130 417 193 -130
,; -137
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,; -31
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -375
lmso 31 32 33 34
lrsq -201
!lhmi{Z([-s+q;goa~bckt -38
!lhmi{([-s+q)go~k 341 31 155 32 268 342 159 343 344 33 161 162 420 163 34 164 165
!lhmi{Z([-s+q;goa~bckt -39
!lhmi{Z([-s+q;goa~bckt -40
!lhmi{Z([-s+q;goa~bckt -41
!lhmi{Z([-s+q;goa~bckt -42
lmZ(sqoabct 31 32 320 321 33 162 34 322 323 324 325
!lhmi{Z([-s+q;goa~bckt -2
, 425
,; 426 427
XY(; 77 78 40 428
o 431
!lhmi{Z([-s+q;goa~bckt -47 -47 -47 -47 -47 -47 320 -47 -47 -47 -47 -47 -47 -47 -47 -47 322 -47 323 324 -47 325
XY(; 77 78 40 432
lmso 31 32 33 34
lm(so 31 32 40 33 34
i 438
!lhmi{Z([-s+q;goa~bckt -49 -49 -49 -49 -49 -49 320 -49 -49 -49 -49 -49 -49 -49 -49 -49 322 -49 323 324 -49 325
!lhmi{Z([-s+q;goa~bckt -51 -51 -51 -51 -51 -51 320 -51 -51 -51 -51 -51 -51 -51 -51 -51 322 -51 323 324 -51 325
,<; -362 96 -362
,; 440 441
!lhmi(-s+qo~k 154 31 155 32 268 269 160 33 161 162 34 164 165
!lhmi(-s+qgo~k 341 31 155 32 268 159 344 33 161 162 163 34 164 165
!lhmi(-s+o~k 154 31 155 32 268 269 160 33 161 34 164 165
!lhmi(-s+qo~k 154 31 155 32 268 269 160 33 161 162 34 164 165
d@flSrRm{ZMsNq}oaJTbc -215
,); -249
,}); -370
,[+);| -371 451 452 -371 -371 453
,; 454 455
,); -250
,);| -251 -251 -251 457
lmZ(sqoabct 31 32 320 321 33 162 34 322 323 324 325
!lhmi{Z([-s+q;goa~bckt -50 -50 -50 -50 -50 -50 320 -50 -50 -50 -50 -50 -50 -50 -50 -50 322 -50 323 324 -50 325
!lhmi{([-s+q;go~k 341 31 155 32 268 342 159 343 344 33 161 162 461 163 34 164 165
l,ms}obt -313
l,ms}obt -305
i- 227 228
lmso 31 32 33 34
i- 227 228
l,ms}obt -309 467 -309 -309 -309 -309 -309 -309
i 468
,) -7
,WUV{N; 469 -148 -148 -148 -148 -148 -148
i 470
lmso -284
,) -270
,) -271
,[) -275 97 -275
,) -276
,) -277
,) -255
,) -256
,[) -260 97 -260
lmso 31 32 33 34
,[) -266 97 -266
,) -21
XY{; 77 78 -173 -173
XY{; 77 78 -189 -189
XY{; 77 78 -192 -192
XY{; 77 78 -194 -194
XY{; 77 78 -197 -197
) 479
) -239
+) 480 -240
) 481
+) 482 -241
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,}; -211
,} 484 485
!lhmi(-s+qgo~k 154 31 155 156 157 159 160 33 161 162 163 34 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
&^:,<->%+?})];/*|HBEADFCG -292
,}); -318
&^:,?})];|HBEA -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 287 288
^:,?})];|HB 286 -78 -78 -78 -78 -78 -78 -78 -78 -78 -78
&^:,?})];|HB 284 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80
&^:,<>?})];|HBEADF -153 -153 -153 -153 297 298 -153 -153 -153 -153 -153 -153 -153 -153 -153 -153 299 300
&^:,<>?})];|HBEADF -154 -154 -154 -154 297 298 -154 -154 -154 -154 -154 -154 -154 -154 -154 -154 299 300
,}; -206
:,?})];|HB -236 -236 -236 -236 -236 -236 -236 285 -236 -236
: 488
:,?})];HB -238 -238 -238 -238 -238 -238 -238 -238 290
,}; -207
&^:,<->%+?})];/*|HBEADFCG -294
&^:,<->%+?})];/*|HBEADFCG -295
&^:,<->%+?})];/*|HBEADFCG -296
&^:,<>?})];|HBEADFCG -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 301 302
&^:,<>?})];|HBEADFCG -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 301 302
&^:,<>?})];|HBEADFCG -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 301 302
&^:,<>?})];|HBEADFCG -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 301 302
&^:,<->+?})];|HBEADFCG -315 -315 -315 -315 -315 303 -315 304 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315
&^:,<->+?})];|HBEADFCG -316 -316 -316 -316 -316 303 -316 304 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316
&^:,<->%+?})];/*|HBEADFCG -357 -357 -357 -357 -357 -357 -357 294 -357 -357 -357 -357 -357 -357 295 296 -357 -357 -357 -357 -357 -357 -357 -357 -357
&^:,<->%+?})];/*|HBEADFCG -358 -358 -358 -358 -358 -358 -358 294 -358 -358 -358 -358 -358 -358 295 296 -358 -358 -358 -358 -358 -358 -358 -358 -358
,; -127
,; -131
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,; -135
lrsq -202
,; -66
,) 454 490
!lhmi{Z([-s+q;goa~bckt -1
, 492
,; 493 494
lmsqo 31 32 33 162 34
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -113
d@flSrRm{ZMsNq}oaJTbc -333
XY; 77 78 498
XY; 77 78 499
XY(; 77 78 40 501
d@flSrRm{ZMsNq}oaJTbc -341
XY; 77 78 504
XY; 77 78 505
XY(; 77 78 40 507
XY(; 77 78 40 510
lmso 31 32 33 34
i 514
,; -361
lmso 31 32 33 34
d@flSrRm{ZMsNq}oaJTbc -337
,; 516 517
,}); -373
,+} -371 452 -371
,} 518 519
,-+] -282
,] 521 522
,] -71
,-+] -72 524 525 -72
,}); -374
!lhmi(-s+qo~k 154 31 155 32 268 269 160 33 161 162 34 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
lmsqo 31 32 33 162 34
!lhmi{([-s+qgo~k 341 31 155 32 268 342 159 343 344 33 161 162 163 34 164 165
d@flSrRm{ZMsNq}oaJTbc -214
,; 532 533
lmsqo 31 32 33 162 34
lmZ(sqoabct 31 32 320 321 33 162 34 322 323 324 325
, 537
,; 538 539
d@flSrRm{ZMsNq}oaJTbc -218
,; 454 540
l,ms}obt -124
lms}obt -234
lms}obt -307
l,ms}obt -26
i- 227 228
) 543
i 544
$KOdfQLRZNPaJbcI -226
,) -273
,) -274
,) -258
,) -259
,[) -263 97 -263
,) -264
,) -265
XY{; 77 78 -193 -193
,+}); -200
!hi(-+~k 154 155 268 269 160 161 164 165
,}; -208
!hi(-+~k 154 155 268 269 160 161 164 165
,} -16
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,}; -210
,} -144
&^:,<->%+?})];/*|HBEADFCG -364
!hi(-+~k 154 155 268 269 160 161 164 165
,; -129
,; -65
,) 532 551
lmsqo 31 32 33 162 34
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -105
,; 555 556
,; 557 558
; 559
d@flSrRm{ZMsNq}oaJTbc -330
d@flSrRm{ZMsNq}oaJTbc -332
XY; 77 78 560
d@flSrRm{ZMsNq}oaJTbc -329
XY; 77 78 561
XY; 77 78 562
d@flSrRm{ZMsNq}oaJTbc -338
d@flSrRm{ZMsNq}oaJTbc -340
XY; 77 78 564
d@flSrRm{ZMsNq}oaJTbc -345
XY; 77 78 565
XY; 77 78 566
d@flSrRm{ZMsNq}oaJTbc -349
XY; 77 78 568
XY; 77 78 569
XY(; 77 78 40 571
d@flS,rRm{ZMsNq}oaJTbc -335 -335 -335 -335 -335 574 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335
,; -28
lmso 31 32 33 34
d@flSrRm{ZMsNq}oaJTbc -336
!lhmi(-s+qgo~k 341 31 155 32 268 159 344 33 161 162 163 34 164 165
,)];| -382
,} 578 579
lm{sqo 31 32 342 33 162 34
,);t -62 -62 -62 582
,] 583 584
!hi(-+~k 154 155 268 269 160 161 164 165
!hi(-+~k 154 155 268 269 160 161 164 165
] 587
] -35
] -36
,}); -372
,); -253
,); -18
!lhmi{([-s+qgo~k 341 31 155 32 268 342 159 343 344 33 161 162 163 34 164 165
d@flSrRm{ZMsNq}oaJTbc -213
,); -254
, 589
,; 590 591
lmsqo 31 32 33 162 34
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -97
d@flSrRm{ZMsNq}oaJTbc -217
,; 532 595
l,ms}obt -25
,) -67
WUV{N; -147
,) -261
,) -262
) -242
) -243
,} -15
:,})]; -116
,; -64
,; 596 597
,; 598 599
; 600
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -109
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -111
d@flSrRm{ZMsNq}oaJTbc -112
d@flSrRm{ZMsNq}oaJTbc -331
d@flSrRm{ZMsNq}oaJTbc -326
d@flSrRm{ZMsNq}oaJTbc -328
XY; 77 78 604
d@flSrRm{ZMsNq}oaJTbc -339
d@flSrRm{ZMsNq}oaJTbc -342
d@flSrRm{ZMsNq}oaJTbc -344
XY; 77 78 605
d@flSrRm{ZMsNq}oaJTbc -346
d@flSrRm{ZMsNq}oaJTbc -348
XY; 77 78 606
d@flSrRm{ZMsNq}oaJTbc -353
XY; 77 78 607
XY; 77 78 608
n 610
d@flSrRm{ZMsNq}oaJTbc -334
,; -27
,} -34
!lhmi(-s+qgo~k 341 31 155 32 268 159 344 33 161 162 163 34 164 165
,)];| -381
,] -5
,] -6
,); -61
lm{sqo 31 32 342 33 162 34
,);t -60 -60 -60 614
,] -73
,] -74
,); -252
,); -17
lmsqo 31 32 33 162 34
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -89
,; 618 619
,; 620 621
; 622
d@flSrRm{ZMsNq}oaJTbc -216
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -101
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -103
d@flSrRm{ZMsNq}oaJTbc -104
,; 626 627
; 628
; 629
d@flSrRm{ZMsNq}oaJTbc -327
d@flSrRm{ZMsNq}oaJTbc -343
d@flSrRm{ZMsNq}oaJTbc -347
d@flSrRm{ZMsNq}oaJTbc -350
d@flSrRm{ZMsNq}oaJTbc -352
XY; 77 78 630
lmsot 31 32 33 34 229
,} -33
,] -3
,] -4
,); -59
,; 633 634
,; 635 636
; 637
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -93
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -95
d@flSrRm{ZMsNq}oaJTbc -96
,; 641 642
; 643
; 644
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -107
d@flSrRm{ZMsNq}oaJTbc -108
d@flSrRm{ZMsNq}oaJTbc -110
d@flSrRm{ZMsNq}oaJTbc -351
,+ -121
, 646
lm(sqo 31 32 321 33 162 34
d@flSrRm{ZMsNq}oaJTbc -85
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -87
d@flSrRm{ZMsNq}oaJTbc -88
,; 650 651
; 652
; 653
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -99
d@flSrRm{ZMsNq}oaJTbc -100
d@flSrRm{ZMsNq}oaJTbc -102
; 655
p 656
,; 657 658
; 659
; 660
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -91
d@flSrRm{ZMsNq}oaJTbc -92
d@flSrRm{ZMsNq}oaJTbc -94
; 662
d@flSrRm{ZMsNq}oaJTbc -106
i 663
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -83
d@flSrRm{ZMsNq}oaJTbc -84
d@flSrRm{ZMsNq}oaJTbc -86
; 665
d@flSrRm{ZMsNq}oaJTbc -98
i 666
; 667
d@flSrRm{ZMsNq}oaJTbc -90
i 668
d@flSrRm{ZMsNq}oaJTbc -82
d@flSrRm{ZMsNq}oaJTbc -37"""

# A state a line: rules, each with the next state.
GOTOS = """\
items:1 module:2
__parameter_star_5:18 _specifier:19 alignment:20 attributes:21 function:22 function_header:23 item:24 pragma:25 section:26 section_header:27 target:28 variable:29


_name:35


_name:38

_name:41 attributes:42 parameters:43
__parameter_star_5:18 _specifier:19 alignment:20 attributes:21 variable:46



_name:49
_name:51 declarator:52


_specifier:55 alignment:20 attributes:21




body:58 end:59 open:60



section_lines:61









attribute:64
__function_header_star_2:68 entry_directive:69 parameters:70 pragma:71

__parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:76
__function_header_star_3:79 func_directive:80 parameters:81
_name:82 parameters:83
_name:84
_name:85
_name:86 attributes:87 parameters:88

__pragma_star_1:91

__target_star_0:94

__declarator_star_9:98 count:99 dimension:100 unsized:101
__variable_star_7:104

_name:51 declarator:106





statements:107
_name:111 _section_type:112 close:113 label:114 section_line:115
_name:116

__attributes_star_8:120



entry_directive:123 pragma:71

__function_header_star_2:124 entry_directive:69 pragma:71



_name:127 alignment:128 pointer:129
_specifier:55 alignment:20 attributes:21
__parameters_star_4:133


func_directive:135

__function_header_star_3:136 func_directive:80
__function_header_star_3:137 func_directive:80 parameters:138
_name:139
__function_header_star_3:140 func_directive:80 parameters:141
__function_header_star_2:142 entry_directive:69 parameters:143 pragma:71
__function_header_star_3:144 func_directive:80 parameters:145
_name:146 parameters:147
_name:148




_name:152

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:176 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


dimension:194
__declarator_star_9:196 dimension:100 unsized:197

__declarator_star_9:199 dimension:100
_name:51 declarator:200



__variable_star_7:204
__parameter_star_5:18 _name:111 _opcode:215 _specifier:19 alignment:20 attributes:21 body:216 call:217 close:218 guard:219 instruction:220 label:221 open:60 pragma:222 statement:223 target:224 variable:225




_name:230 debug_name:231 debug_symbol:232 label_name:233 section_integer:234





attribute:237





entry_directive:123 pragma:71

alignment:243
dimension:244 unsized:245
_name:246 pointer:247
_name:248
_name:249 alignment:250 pointer:251
__parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:252




func_directive:135
func_directive:135
__function_header_star_3:255 func_directive:80
__function_header_star_3:256 func_directive:80 parameters:257
func_directive:135
__function_header_star_3:258 func_directive:80
entry_directive:123 pragma:71
__function_header_star_2:259 entry_directive:69 pragma:71
func_directive:135
__function_header_star_3:260 func_directive:80
__function_header_star_3:261 func_directive:80 parameters:262
_name:263
__function_header_star_3:264 func_directive:80 parameters:265




_name:267
primary:180 unary:270



_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:274 equality:172 expression:173 generic:174 initial_value:175 initializer:275 logical_and:177 logical_or:178 name:276 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:278 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 single:279 sum:185 unary:186
primary:180 unary:280
primary:180 unary:281


primary:180 unary:282



























_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:309 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:310 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
dimension:194
__declarator_star_9:313 dimension:100
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:314 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
dimension:194

_name:51 declarator:316



_name:319
___opcode_star_13:326 _modifier:327 _name:166 arguments:328 name:329
parameters:331
___opcode_star_13:332 _modifier:327
_name:333 parameters:334


___opcode_star_13:337 _modifier:327
___opcode_star_13:338 _modifier:327
_name:339 target_label:340
_name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:349 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351



_opcode:354








section_literal:356





__section_line_star_11:360



attribute:362



alignment:365



dimension:366 unsized:367
_name:368
dimension:369 unsized:370
dimension:371 unsized:372
_name:373 pointer:374
_name:375

__parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:376

func_directive:135
func_directive:135
__function_header_star_3:377 func_directive:80
func_directive:135
entry_directive:123 pragma:71
func_directive:135
func_directive:135
__function_header_star_3:378 func_directive:80
__function_header_star_3:379 func_directive:80 parameters:380
func_directive:135
__function_header_star_3:381 func_directive:80



bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:278 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

_name:166 name:382
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:383 generic:384 logical_and:177 logical_or:178 masked:385 name:386 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

__initializer_star_10:389









equality:394 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_xor:395 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:396 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
primary:180 product:181 relation:397 shift:183 sum:185 unary:186
primary:180 product:181 relation:398 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:399 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:400 bit_xor:169 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:401 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 equality:172 logical_and:402 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:403 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
primary:180 unary:404
primary:180 unary:405
primary:180 unary:406
primary:180 product:181 shift:407 sum:185 unary:186
primary:180 product:181 shift:408 sum:185 unary:186
primary:180 product:181 shift:409 sum:185 unary:186
primary:180 product:181 shift:410 sum:185 unary:186
primary:180 product:181 sum:411 unary:186
primary:180 product:181 sum:412 unary:186
primary:180 product:413 unary:186
primary:180 product:414 unary:186






_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:415 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:416 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
dimension:194

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:418 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


_name:419


_name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:421 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351




_modifier:422 _name:166 arguments:423 name:424



__function_header_star_3:429 func_directive:80 parameters:430

_modifier:422
__function_header_star_3:433 func_directive:80 parameters:434
_name:435
_name:436 parameters:437

_modifier:422
_modifier:422
count:439
__statement_star_6:442
_name:166 name:443 primary:180 unary:270
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:444 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:445
_name:446 base:447 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:448 logical_and:177 logical_or:178 plain_name:449 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
_name:166 name:450 primary:180 unary:280




__instruction_star_12:456


___opcode_star_13:458 _modifier:327 _name:166 arguments:459 name:460
___opcode_star_13:337 _modifier:327
_name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:462 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351


section_integer:463
_name:464 label_name:465
section_integer:466








dimension:471 unsized:472




dimension:473 unsized:474
_name:475
dimension:476 unsized:477

func_directive:135
func_directive:135
func_directive:135
__function_header_star_3:478 func_directive:80
func_directive:135





_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:483 equality:172 expression:173 generic:174 initial_value:175 initializer:275 logical_and:177 logical_or:178 name:276 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:486 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
primary:180 unary:487

























_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:489 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186



__instruction_star_12:491



_name:166 name:495
_name:166 arguments:496 name:497


func_directive:135
__function_header_star_3:500 func_directive:80
__function_header_star_3:502 func_directive:80 parameters:503

func_directive:135
__function_header_star_3:506 func_directive:80
__function_header_star_3:508 func_directive:80 parameters:509
__function_header_star_3:511 func_directive:80 parameters:512
_name:513


_name:339 target_label:515




__vector_star_14:520

__address_star_15:523



_index:526 _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:527 logical_and:177 logical_or:178 name:528 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:529 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
_name:166 name:530
_name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:531 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351


_name:166 name:534
_modifier:422 _name:166 arguments:535 name:536



__instruction_star_12:541




section_integer:542







dimension:545 unsized:546


func_directive:135

bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:547 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:548 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:549 equality:172 expression:173 generic:174 initial_value:175 initializer:275 logical_and:177 logical_or:178 name:276 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186



bit_and:167 bit_or:168 bit_xor:169 conditional:550 equality:172 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186



_name:166 name:552
_name:166 arguments:553 name:554






func_directive:135

func_directive:135
__function_header_star_3:563 func_directive:80


func_directive:135

func_directive:135
__function_header_star_3:567 func_directive:80

func_directive:135
__function_header_star_3:570 func_directive:80
__function_header_star_3:572 func_directive:80 parameters:573
_inlined:575

_name:339 target_label:576

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:444 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:577


_name:166 name:580 vector:581


bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:585 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:586 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186






_name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:588 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351




_name:166 name:592
_name:166 arguments:593 name:594
















_name:166 arguments:601 name:602

_name:166 name:603





func_directive:135



func_directive:135


func_directive:135

func_directive:135
__function_header_star_3:609 func_directive:80




_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:444 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:611




_name:166 name:612 vector:613





_name:166 name:615
_name:166 arguments:616 name:617





_name:166 arguments:623 name:624

_name:166 name:625










func_directive:135
_name:631 debug_name:231 debug_symbol:632







_name:166 arguments:638 name:639

_name:166 name:640





_name:166 name:645






_name:166 arguments:647 name:648

_name:166 name:649





_name:166 name:654








_name:166 name:661






_name:166 name:664










"""
